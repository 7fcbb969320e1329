import { afterEach, describe, expect, it } from "vitest";
import type { Credentials } from "../config.ts";
import { type Seen, sendJson, status } from "../testing/api-server.ts";
import { fixedCredentials } from "../testing/fake-platform.ts";
import { endWatches, errorEvent, event, open, requestedVersion, startWatch } from "../testing/start-watch.ts";

afterEach(endWatches);

describe("a failed stream", () => {
  const breaks: [how: string, act: (seen: Seen) => void, code: string][] = [
    ["is reset", ({ socket }) => void socket.destroy(), "Unreachable"],
    ["sends a line that is not JSON", ({ response }) => void response.write("<html>oops\n"), "BadResponse"],
    [
      "sends JSON that is not an event",
      ({ response }) => void response.write('{"type":"NEWS"}\n'),
      "BadResponse",
    ],
    ["ends in the middle of a line", ({ response }) => void response.end('{"type":"ADD'), "BadResponse"],
    ["sends an endless line", ({ response }) => void response.write("x".repeat(9 << 20)), "BadResponse"],
    [
      "reports an error",
      ({ response }) => void response.write(errorEvent(500, "InternalError")),
      "ServerError",
    ],
  ];
  it.each(breaks)("that %s is reported once, and resumes after a wait", async (_how, act, code) => {
    const { server, platform, logged, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await logged(2);
    const first = server.seen[0] as Seen;
    server.handler = (seen) => open(seen, event("MODIFIED", "6"));
    act(first);
    await logged(3);
    await platform.armed(75);
    expect(server.seen.length).toBe(1);
    await platform.clock.pass(75);
    await logged(5);
    expect(log).toEqual(["up", "ADDED 5", `down ${code}`, "up again", "MODIFIED 6"]);
    expect(requestedVersion(server.seen[1] as Seen)).toBe("5");
  });

  it("does not deliver events that follow an invalid line in the same chunk", async () => {
    const { platform, logged, log } = await startWatch((seen) =>
      open(seen, `${event("ADDED", "5")}garbage\n${event("MODIFIED", "6")}`),
    );
    await logged(3);
    await platform.armed(75);
    expect(log).toEqual(["up", "ADDED 5", "down BadResponse"]);
  });

  it("is retried with a back-off of up to five seconds, and reported once", async () => {
    const { server, platform, log } = await startWatch((seen) => void seen.socket.destroy());
    for (const wait of [75, 150, 300, 600, 1200, 2400, 3750, 3750]) {
      await platform.armed(wait);
      expect(platform.clock.dueInMs).toEqual([wait]);
      await platform.clock.pass(wait);
    }
    await server.requests(9);
    expect(log).toEqual(["down Unreachable"]);
  });

  it("resets the back-off after a connection that lasted five seconds", async () => {
    const { server, platform, logged } = await startWatch((seen) => void seen.socket.destroy());
    for (const wait of [75, 150, 300]) {
      await platform.armed(wait);
      server.handler = wait === 300 ? (seen) => open(seen) : server.handler;
      await platform.clock.pass(wait);
    }
    await logged(2);
    await platform.clock.pass(5_000);
    server.seen.at(-1)?.socket.destroy();
    await logged(3);
    await platform.armed(75);
  });

  it("waits as long as the server asks", async () => {
    const { platform } = await startWatch((seen) =>
      sendJson(seen, 429, status(429, "TooManyRequests", "slow down"), { "retry-after": "12" }),
    );
    await platform.armed(12_000);
  });
});

describe("a silent server", () => {
  it("counts as disconnected after idleMs without a byte", async () => {
    const { server, platform, logged, log } = await startWatch((seen) => open(seen, event("ADDED", "5")), {
      idleMs: 30_000,
    });
    await logged(2);
    await platform.clock.pass(29_000);
    server.seen[0]?.response.write(event("MODIFIED", "6"));
    await logged(3);
    await platform.clock.pass(29_999);
    server.seen[0]?.response.write(event("MODIFIED", "7"));
    await logged(4);
    await platform.clock.pass(30_000);
    await logged(5);
    expect(log).toEqual(["up", "ADDED 5", "MODIFIED 6", "MODIFIED 7", "down Timeout"]);
    await platform.armed(75);
    await platform.clock.pass(75);
    expect(requestedVersion(await server.requests(2))).toBe("7");
  });
  it("counts as disconnected after ten seconds without a response, even without idleMs", async () => {
    const { server, platform, logged, errors } = await startWatch(() => {});
    await server.requests(1);
    await platform.clock.pass(10_000);
    expect(await logged(1)).toEqual(["down Timeout"]);
    expect(errors[0]?.message).toBe(
      `Cannot watch leases.coordination.k8s.io "my-lock" in namespace "prod": ${server.url} has sent nothing for 10000 ms.`,
    );
  });
  it("is allowed without limit after the response if idleMs is not set", async () => {
    const { platform, logged, log } = await startWatch((seen) => open(seen));
    await logged(1);
    expect(platform.clock.dueInMs).toEqual([]);
    expect(log).toEqual(["up"]);
  });
});

describe("a server whose store was restored from a backup", () => {
  const restored = async (handler: (seen: Seen) => void, options: { idleMs?: number } = {}) => {
    const watch = await startWatch((seen) => open(seen, event("ADDED", "500")), options);
    await watch.logged(2);
    await watch.platform.clock.pass(1_000);
    watch.server.handler = (seen) =>
      requestedVersion(seen) ? handler(seen) : open(seen, event("ADDED", "7"));
    watch.server.seen[0]?.response.end();
    return watch;
  };
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  const tooLarge = status(504, "Timeout", "Too large resource version: 500, current: 7", { causes });

  it.each([
    ["says that the version is too large", (seen: Seen) => sendJson(seen, 504, tooLarge)],
    [
      "says so as an event",
      (seen: Seen) => open(seen, `${JSON.stringify({ type: "ERROR", object: tooLarge })}\n`),
    ],
    ["sends an older bookmark", (seen: Seen) => open(seen, event("BOOKMARK", "6"))],
    ["sends an older event", (seen: Seen) => open(seen, event("MODIFIED", "6"))],
  ])("that %s is watched from the start again, at once", async (_what, handler) => {
    const { server, logged, log } = await restored(handler);
    await logged(4);
    expect(log).toEqual(["up", "ADDED 500", "up", "ADDED 7"]);
    expect(server.seen.map(requestedVersion)).toEqual([null, "500", null]);
  });

  it("and that is silent about a version in the future is watched from the start after idleMs", async () => {
    const { server, platform, logged, log } = await restored((seen) => open(seen), { idleMs: 30_000 });
    await server.requests(2);
    await platform.armed(30_000);
    await platform.clock.pass(30_000);
    await platform.armed(75);
    await platform.clock.pass(75);
    await logged(5);
    expect(log).toEqual(["up", "ADDED 500", "down Timeout", "up", "ADDED 7"]);
    expect(server.seen.map(requestedVersion)).toEqual([null, "500", null]);
  });

  it("and that ends a long silent stream is watched from the start, even without idleMs", async () => {
    const { server, platform, logged, log } = await restored((seen) => open(seen));
    await server.requests(2);
    // The response has arrived when its silence is no longer limited.
    while (platform.clock.dueInMs.length > 0) await new Promise(setImmediate);
    await platform.clock.pass(120_000);
    server.seen[1]?.response.end();
    await logged(4);
    expect(log).toEqual(["up", "ADDED 500", "up", "ADDED 7"]);
  });

  it("does not include a stream that got a bookmark: it is resumed", async () => {
    const { server, platform, logged } = await restored((seen) => open(seen, event("BOOKMARK", "600")), {
      idleMs: 30_000,
    });
    await server.requests(2);
    await platform.armed(30_000);
    await platform.clock.pass(30_000);
    expect((await logged(3))[2]).toBe("down Timeout");
    await platform.armed(75);
    await platform.clock.pass(75);
    expect(requestedVersion(await server.requests(3))).toBe("600");
  });
});

describe("a watch that is not allowed", () => {
  const denied = (seen: Seen): void =>
    sendJson(
      seen,
      403,
      status(403, "Forbidden", 'x is forbidden: User "bob" cannot watch resource "leases" in API group "c"'),
    );

  it("names the missing rule, and is retried with a back-off of up to half a minute", async () => {
    const { platform, logged, errors } = await startWatch(denied);
    await logged(1);
    expect(errors[0]?.message).toBe(
      'Cannot watch leases.coordination.k8s.io "my-lock" in namespace "prod": bob is not allowed to. Add to its Role: ' +
        '{apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["watch"]}',
    );
    for (const wait of [75, 150, 300, 600, 1200, 2400, 4800, 9600, 19200, 22500, 22500]) {
      await platform.armed(wait);
      await platform.clock.pass(wait);
    }
  });
  it("is reported even if the watch is already down for another reason", async () => {
    const { server, platform, logged } = await startWatch((seen) => void seen.socket.destroy());
    await logged(1);
    server.handler = denied;
    await platform.armed(75);
    await platform.clock.pass(75);
    expect(await logged(2)).toEqual(["down Unreachable", "down Forbidden"]);
  });

  it("renews its credentials after the first 401 and retries at once", async () => {
    let token = "old";
    const credentials: Credentials = {
      headers: async () => ({ authorization: token }),
      tls: async () => ({}),
      refresh: async () => {
        token = "new";
      },
    };
    const { server, logged } = await startWatch(
      (seen) =>
        seen.headers.authorization === "new"
          ? open(seen)
          : sendJson(seen, 401, status(401, "Unauthorized", "no")),
      { credentials },
    );
    expect(await logged(1)).toEqual(["up"]);
    expect(server.seen.length).toBe(2);
  });
  it("is down after the second 401, and renews the credentials again at the next attempt", async () => {
    let renewals = 0;
    const credentials = { ...fixedCredentials(), refresh: async () => void renewals++ };
    const { server, platform, logged } = await startWatch(
      (seen) => sendJson(seen, 401, status(401, "Unauthorized", "no")),
      {
        credentials,
      },
    );
    expect(await logged(1)).toEqual(["down Unauthorized"]);
    expect([server.seen.length, renewals]).toEqual([2, 1]);
    await platform.armed(75);
    await platform.clock.pass(75);
    await platform.armed(150);
    expect([server.seen.length, renewals]).toEqual([4, 2]);
  });
});
