import { afterEach, describe, expect, it } from "vitest";
import type { Credentials } from "../config.ts";
import { type Seen, sendJson, status } from "../testing/api-server.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";
import { endWatches, errorEvent, event, open, startWatch, versionAsked } from "../testing/watching.ts";

afterEach(endWatches);

describe("a broken stream", () => {
  const breaks: [how: string, act: (seen: Seen) => void, code: string][] = [
    ["is reset", ({ socket }) => void socket.destroy(), "Unreachable"],
    ["sends what is not JSON", ({ response }) => void response.write("<html>oops\n"), "BadResponse"],
    [
      "sends JSON that is no event",
      ({ response }) => void response.write('{"type":"NEWS"}\n'),
      "BadResponse",
    ],
    ["ends within a line", ({ response }) => void response.end('{"type":"ADD'), "BadResponse"],
    ["sends a line without end", ({ response }) => void response.write("x".repeat(9 << 20)), "BadResponse"],
    [
      "reports an error",
      ({ response }) => void response.write(errorEvent(500, "InternalError")),
      "ServerError",
    ],
  ];
  it.each(breaks)("that %s is down once, waits, and resumes where it was", async (_how, act, code) => {
    const { server, platform, said, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await said(2);
    const first = server.seen[0] as Seen;
    server.handler = (seen) => open(seen, event("MODIFIED", "6"));
    act(first);
    await said(3);
    await platform.timer(75);
    expect(server.seen.length).toBe(1);
    platform.advance(75);
    await said(5);
    expect(log).toEqual(["up", "ADDED 5", `down ${code}`, "up again", "MODIFIED 6"]);
    expect(versionAsked(server.seen[1] as Seen)).toBe("5");
  });

  it("does not tell what came in the same chunk after the damage", async () => {
    const { platform, said, log } = await startWatch((seen) =>
      open(seen, `${event("ADDED", "5")}garbage\n${event("MODIFIED", "6")}`),
    );
    await said(3);
    await platform.timer(75);
    expect(log).toEqual(["up", "ADDED 5", "down BadResponse"]);
  });

  it("is waited for longer and longer, up to five seconds, and told once", async () => {
    const { server, platform, log } = await startWatch((seen) => void seen.socket.destroy());
    for (const wait of [75, 150, 300, 600, 1200, 2400, 3750, 3750]) {
      await platform.timer(wait);
      expect(platform.timers).toEqual([wait]);
      platform.advance(wait);
    }
    await server.requests(9);
    expect(log).toEqual(["down Unreachable"]);
  });

  it("counts a connection that held for five seconds as a new beginning", async () => {
    const { server, platform, said } = await startWatch((seen) => void seen.socket.destroy());
    for (const wait of [75, 150, 300]) {
      await platform.timer(wait);
      server.handler = wait === 300 ? (seen) => open(seen) : server.handler;
      platform.advance(wait);
    }
    await said(2);
    platform.advance(5_000);
    server.seen.at(-1)?.socket.destroy();
    await said(3);
    await platform.timer(75);
  });

  it("waits as long as the server asks for", async () => {
    const { platform } = await startWatch((seen) =>
      sendJson(seen, 429, status(429, "TooManyRequests", "slow down"), { "retry-after": "12" }),
    );
    await platform.timer(12_000);
  });
});

describe("silence", () => {
  it("of the length given is a broken stream; any byte breaks the silence", async () => {
    const { server, platform, said, log } = await startWatch((seen) => open(seen, event("ADDED", "5")), {
      idleMs: 30_000,
    });
    await said(2);
    platform.advance(29_000);
    server.seen[0]?.response.write(event("MODIFIED", "6"));
    await said(3);
    platform.advance(29_999);
    server.seen[0]?.response.write(event("MODIFIED", "7"));
    await said(4);
    platform.advance(30_000);
    await said(5);
    expect(log).toEqual(["up", "ADDED 5", "MODIFIED 6", "MODIFIED 7", "down Timeout"]);
    await platform.timer(75);
    platform.advance(75);
    expect(versionAsked(await server.requests(2))).toBe("7");
  });
  it("instead of an answer is noticed without being asked for", async () => {
    const { server, platform, said, errors } = await startWatch(() => {});
    await server.requests(1);
    platform.advance(10_000);
    expect(await said(1)).toEqual(["down Timeout"]);
    expect(errors[0]?.message).toBe(
      `Cannot watch leases.coordination.k8s.io "my-lock" in namespace "prod": ${server.url} has sent nothing for 10000 ms.`,
    );
  });
  it("is allowed for ever if no length is given", async () => {
    const { platform, said, log } = await startWatch((seen) => open(seen));
    await said(1);
    expect(platform.timers).toEqual([]);
    expect(log).toEqual(["up"]);
  });
});

describe("a watch that is not allowed", () => {
  const denied = (seen: Seen): void =>
    sendJson(
      seen,
      403,
      status(403, "Forbidden", 'x is forbidden: User "bob" cannot watch resource "leases" in API group "c"'),
    );

  it("names the rule that is missing, and asks again at most every half minute", async () => {
    const { platform, said, errors } = await startWatch(denied);
    await said(1);
    expect(errors[0]?.message).toBe(
      'Cannot watch leases.coordination.k8s.io "my-lock" in namespace "prod": bob is not allowed to. Add to its Role: ' +
        '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["watch"]}',
    );
    for (const wait of [75, 150, 300, 600, 1200, 2400, 4800, 9600, 19200, 22500, 22500]) {
      await platform.timer(wait);
      platform.advance(wait);
    }
  });
  it("is told even when the watch was down already, for another reason", async () => {
    const { server, platform, said } = await startWatch((seen) => void seen.socket.destroy());
    await said(1);
    server.handler = denied;
    await platform.timer(75);
    platform.advance(75);
    expect(await said(2)).toEqual(["down Unreachable", "down Forbidden"]);
  });

  it("renews its credentials once after a 401 and tries at once", async () => {
    let token = "old";
    const credentials: Credentials = {
      headers: async () => ({ authorization: token }),
      tls: async () => ({}),
      refresh: async () => {
        token = "new";
      },
    };
    const { server, said } = await startWatch(
      (seen) =>
        seen.headers.authorization === "new"
          ? open(seen)
          : sendJson(seen, 401, status(401, "Unauthorized", "no")),
      { credentials },
    );
    expect(await said(1)).toEqual(["up"]);
    expect(server.seen.length).toBe(2);
  });
  it("is down after the second 401, and renews again at the next try", async () => {
    let renewals = 0;
    const credentials = { ...fixedCredentials(), refresh: async () => void renewals++ };
    const { server, platform, said } = await startWatch(
      (seen) => sendJson(seen, 401, status(401, "Unauthorized", "no")),
      {
        credentials,
      },
    );
    expect(await said(1)).toEqual(["down Unauthorized"]);
    expect([server.seen.length, renewals]).toEqual([2, 1]);
    await platform.timer(75);
    platform.advance(75);
    await platform.timer(150);
    expect([server.seen.length, renewals]).toEqual([4, 2]);
  });
});
