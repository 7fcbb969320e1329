/** What a watch reports while it is down, and lines that only look like events. */
import { afterEach, describe, expect, it } from "vitest";
import { type Seen, sendJson, status } from "../testing/api-server.ts";
import { endWatches, event, open, requestedVersion, startWatch } from "../testing/start-watch.ts";

afterEach(endWatches);

const answer = (code: number, reason: string) => (seen: Seen) =>
  sendJson(seen, code, status(code, reason, reason));

describe("a watch that is down", () => {
  it.each([
    ["Unauthorized", answer(401, "Unauthorized")],
    ["Forbidden", answer(403, "Forbidden")],
    ["NotFound", answer(404, "NotFound")],
    ["HttpError", answer(404, "")],
  ])("reports %s, which needs a person, once, even after another failure", async (code, handler) => {
    const { server, platform, logged, log } = await startWatch((seen) => void seen.socket.destroy());
    await logged(1);
    server.handler = handler;
    for (const wait of [75, 150, 300]) {
      await platform.armed(wait);
      await platform.clock.pass(wait);
    }
    await platform.armed(600);
    expect(log).toEqual(["down Unreachable", `down ${code}`]);
  });

  it("does not report a failure that passes by itself again", async () => {
    const { server, platform, logged, log } = await startWatch(answer(403, "Forbidden"));
    await logged(1);
    server.handler = answer(503, "ServiceUnavailable");
    await platform.armed(75);
    await platform.clock.pass(75);
    await platform.armed(150);
    expect(log).toEqual(["down Forbidden"]);
  });

  it("reports the same failure again after it was up", async () => {
    const { server, platform, logged, log } = await startWatch(answer(403, "Forbidden"));
    await logged(1);
    server.handler = (seen) => open(seen);
    await platform.armed(75);
    await platform.clock.pass(75);
    await logged(2);
    server.handler = answer(403, "Forbidden");
    server.seen.at(-1)?.socket.destroy();
    await platform.armed(150);
    await platform.clock.pass(150);
    await platform.armed(300);
    expect(log).toEqual(["down Forbidden", "up", "down Unreachable", "down Forbidden"]);
  });

  it("waits up to half a minute after a 401, too", async () => {
    const { platform } = await startWatch(answer(401, "Unauthorized"));
    for (const wait of [75, 150, 300, 600, 1200, 2400, 4800, 9600]) {
      await platform.armed(wait);
      await platform.clock.pass(wait);
    }
    await platform.armed(19_200);
  });

  it("waits at most half a minute, however long the server asks", async () => {
    const { platform } = await startWatch((seen) =>
      sendJson(seen, 429, status(429, "TooManyRequests", "slow"), { "retry-after": "3600" }),
    );
    await platform.armed(30_000);
  });

  it("does not reset the back-off after a connection of less than five seconds", async () => {
    const { server, platform, logged } = await startWatch((seen) => void seen.socket.destroy());
    await platform.armed(75);
    server.handler = (seen) => open(seen);
    await platform.clock.pass(75);
    await logged(2);
    await platform.clock.pass(4_999);
    server.seen.at(-1)?.socket.destroy();
    await platform.armed(150);
  });
});

it("a stream that ends within a second counts as short", async () => {
  const { server, platform, logged, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
  for (const count of [2, 3]) {
    await logged(count);
    await platform.clock.pass(999);
    server.seen.at(-1)?.response.end();
  }
  await logged(4);
  expect(log).toEqual(["up", "ADDED 5", "ADDED 5", "down Unreachable"]);
});

describe("a line that only looks like an event", () => {
  it.each([
    ["null", "null"],
    ["an event without an object", '{"type":"ADDED"}'],
    ["an event without metadata", '{"type":"ADDED","object":{}}'],
    ["a version that is a number", '{"type":"ADDED","object":{"metadata":{"resourceVersion":6}}}'],
    ["another type", '{"type":"NEWS","object":{"metadata":{"resourceVersion":"6"}}}'],
  ])("is reported: %s", async (_what, line) => {
    const { platform, logged, errors } = await startWatch((seen) => open(seen, `${line}\n`));
    expect(await logged(2)).toEqual(["up", "down BadResponse"]);
    expect(errors[0]?.message).toBe(
      'Cannot watch leases.coordination.k8s.io "my-lock" in namespace "prod": a line of the stream is not a watch event.',
    );
    await platform.armed(75);
  });
});

describe("versions", () => {
  it.each([
    ["5", "x6"],
    ["x5", "4"],
    ["x5", "x4"],
  ])("that are not numbers have no order: %s, then %s", async (first, second) => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", first)));
    await logged(2);
    await platform.clock.pass(1_000);
    server.handler = (seen) => open(seen, event("MODIFIED", second));
    server.seen[0]?.response.end();
    expect((await logged(3))[2]).toBe(`MODIFIED ${second}`);
  });

  it("are kept after a 504 for another cause", async () => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await logged(2);
    await platform.clock.pass(1_000);
    const causes = [null, { reason: "Other" }];
    server.handler = (seen) => sendJson(seen, 504, status(504, "Timeout", "later", { causes }));
    server.seen[0]?.response.end();
    expect((await logged(3))[2]).toBe("down ServerTimeout");
    await platform.armed(75);
    await platform.clock.pass(75);
    expect(requestedVersion(await server.requests(3))).toBe("5");
  });

  it("are given up if one of several causes says that they are too large", async () => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", "500")));
    await logged(2);
    await platform.clock.pass(1_000);
    const causes = [null, { reason: "Other" }, { reason: "ResourceVersionTooLarge" }];
    server.handler = (seen) =>
      requestedVersion(seen)
        ? sendJson(seen, 504, status(504, "Timeout", "later", { causes }))
        : open(seen, event("ADDED", "7"));
    server.seen[0]?.response.end();
    expect((await logged(4)).slice(2)).toEqual(["up", "ADDED 7"]);
  });

  it("are kept after a silent stream that was short", async () => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await logged(2);
    await platform.clock.pass(1_000);
    server.handler = (seen) => open(seen);
    server.seen[0]?.response.end();
    await server.requests(2);
    while (platform.clock.dueInMs.length > 0) await new Promise(setImmediate);
    await platform.clock.pass(119_999);
    server.seen[1]?.response.end();
    expect(requestedVersion(await server.requests(3))).toBe("5");
  });
});
