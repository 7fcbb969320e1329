import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { closed, type Seen, sendJson, status } from "../testing/api-server.ts";
import {
  endWatches,
  errorEvent,
  event,
  open,
  path,
  requestedVersion,
  startWatch,
} from "../testing/start-watch.ts";

afterEach(endWatches);

describe("a watch", () => {
  it("starts without a version, and delivers events but not bookmarks", async () => {
    const { server, logged } = await startWatch((seen) =>
      open(seen, event("ADDED", "5"), event("BOOKMARK", "6"), event("MODIFIED", "7"), event("DELETED", "8")),
    );
    expect(await logged(4)).toEqual(["up", "ADDED 5", "MODIFIED 7", "DELETED 8"]);
    const [seen] = server.seen;
    expect(Object.fromEntries(seen?.url.searchParams ?? [])).toEqual({
      fieldSelector: "metadata.name=my-lock",
      watch: "true",
      allowWatchBookmarks: "true",
      timeoutSeconds: "3300",
    });
    expect(seen?.method).toBe("GET");
  });

  it.each([
    [0, "3000"],
    [0.999999, "3600"],
  ])("randomises the length of the stream: %d gives %s s", async (chance, seconds) => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", "1")));
    await logged(1);
    platform.randomNumber = chance;
    server.handler = (seen) => open(seen, event("ADDED", "2"));
    server.seen[0]?.response.end();
    const next = await server.requests(2);
    expect(next.url.searchParams.get("timeoutSeconds")).toBe(seconds);
  });

  it("has its own connection, separate from requests", async () => {
    const { server, client, logged } = await startWatch((seen) =>
      seen.url.searchParams.has("watch") ? open(seen) : sendJson(seen, 200, {}),
    );
    await logged(1);
    await client.request({ method: "GET", path });
    await client.request({ method: "GET", path });
    expect(server.connections).toBe(2);
  });

  it("reads lines that are split anywhere, even inside a character", async () => {
    const text = Buffer.from(event("ADDED", "5", { name: "löck-🔒" }) + event("MODIFIED", "6"));
    const names: unknown[] = [];
    const { logged } = await startWatch(
      (seen) => {
        open(seen);
        const { response } = seen;
        const next = (index: number): void => {
          if (index < text.length)
            response.write(text.subarray(index, index + 1), () => setImmediate(next, index + 1));
        };
        next(0);
      },
      { onEvent: ({ object }) => void names.push(object.metadata.name), onDown: () => names.push("down") },
    );
    await logged(1);
    while (names.length < 2) await new Promise(setImmediate);
    expect(names).toEqual(["löck-🔒", undefined]);
  });
});

describe("a stream that ends normally", () => {
  it.each([
    ["an event", event("ADDED", "5"), "5"],
    ["a bookmark", event("ADDED", "5") + event("BOOKMARK", "42"), "42"],
  ])("resumes silently after the last version, in %s", async (_what, lines, version) => {
    const { server, platform, logged, log } = await startWatch((seen) => open(seen, lines));
    await logged(2);
    server.handler = (seen) => open(seen, event("MODIFIED", "50"));
    await platform.clock.pass(3_300_000);
    server.seen[0]?.response.end();
    expect(requestedVersion(await server.requests(2))).toBe(version);
    await logged(3);
    expect(log).toEqual(["up", "ADDED 5", "MODIFIED 50"]);
  });

  it("starts over if there was no event, and reports that it did not resume", async () => {
    const { server, logged } = await startWatch((seen) => open(seen));
    await logged(1);
    server.seen[0]?.response.end();
    expect(requestedVersion(await server.requests(2))).toBeNull();
    expect(await logged(2)).toEqual(["up", "up"]);
  });

  it("is down if the next attempt fails", async () => {
    const { server, platform, logged } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await logged(2);
    server.handler = (seen) => sendJson(seen, 503, status(503, "ServiceUnavailable", "starting"));
    await platform.clock.pass(10_000);
    server.seen[0]?.response.end();
    expect((await logged(3))[2]).toBe("down ServerError");
    server.handler = (seen) => open(seen);
    await platform.armed(75);
    await platform.clock.pass(75);
    expect((await logged(4))[3]).toBe("up again");
  });

  it("waits before the next attempt if streams end as soon as they start", async () => {
    const { server, platform, logged } = await startWatch((seen) => {
      open(seen, event("ADDED", "5"));
      seen.response.end();
    });
    const log = await logged(4);
    expect(log).toEqual(["up", "ADDED 5", "ADDED 5", "down Unreachable"]);
    await platform.armed(75);
    expect(server.seen.length).toBe(2);
  });
});

it("never reports streams that end normally after a second or more", async () => {
  const { server, platform, logged, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
  for (let i = 1; i <= 4; i++) {
    await logged(i + 1);
    await platform.clock.pass(1_000);
    server.seen.at(-1)?.response.end();
  }
  await logged(6);
  expect(log).toEqual(["up", "ADDED 5", "ADDED 5", "ADDED 5", "ADDED 5", "ADDED 5"]);
});

describe("410 Gone", () => {
  it.each([
    ["as a response", (seen: Seen) => sendJson(seen, 410, status(410, "Expired", "too old"))],
    ["as an event", (seen: Seen) => open(seen, errorEvent(410, "Expired"))],
  ])("%s starts over at once without a version, and reports that it did not resume", async (_how, gone) => {
    const { server, logged, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await logged(2);
    server.handler = (seen) => (requestedVersion(seen) ? gone(seen) : open(seen, event("ADDED", "900")));
    server.seen[0]?.response.end();
    await logged(4);
    expect(log).toEqual(["up", "ADDED 5", "up", "ADDED 900"]);
    expect(server.seen.map(requestedVersion)).toEqual([null, "5", null]);
  });
  it("without a requested version is reported, and followed by a wait", async () => {
    const { server, platform, logged } = await startWatch((seen) =>
      sendJson(seen, 410, status(410, "Gone", "gone")),
    );
    expect(await logged(1)).toEqual(["down Gone"]);
    await platform.armed(75);
    expect(server.seen.length).toBe(1);
  });
});

describe("the end of a watch", () => {
  it("comes with the signal, and leaves no timer, listener or socket", async () => {
    const { server, platform, controller, logged, ended } = await startWatch(
      (seen) => open(seen, event("ADDED", "5")),
      {
        idleMs: 1000,
      },
    );
    await logged(2);
    const { socket } = server.seen[0] as Seen;
    controller.abort();
    await ended;
    expect(platform.clock.dueInMs).toEqual([]);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    await closed(socket);
  });
  it("comes at once during a back-off", async () => {
    const { platform, controller, ended } = await startWatch((seen) => void seen.socket.destroy());
    await platform.armed(75);
    controller.abort();
    await ended;
    expect(platform.clock.dueInMs).toEqual([]);
  });
  it("comes before any callback if the signal has already aborted", async () => {
    const { server, log, ended } = await startWatch((seen) => open(seen), { signal: AbortSignal.abort() });
    await ended;
    expect([log, server.seen.length]).toEqual([[], 0]);
  });
  it("in the middle of a chunk discards the rest", async () => {
    const seenVersions: string[] = [];
    const controller = new AbortController();
    const { ended, log } = await startWatch(
      (seen) => open(seen, event("ADDED", "5") + event("MODIFIED", "6")),
      {
        signal: controller.signal,
        onEvent: ({ object }) => {
          seenVersions.push(object.metadata.resourceVersion);
          controller.abort();
        },
      },
    );
    await ended;
    expect(seenVersions).toEqual(["5"]);
    expect(log).toEqual(["up"]);
  });
  it("comes when the client is closed", async () => {
    const { client, controller, logged, ended, log } = await startWatch((seen) => open(seen));
    await logged(1);
    client.close();
    await ended;
    expect(log).toEqual(["up"]);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
  it.each(["onEvent", "onUp", "onDown"] as const)(
    "comes when %s throws, with the error that it threw",
    async (name) => {
      const bug = new TypeError("bug");
      const { ended } = await startWatch(
        (seen) => (name === "onDown" ? void seen.socket.destroy() : open(seen, event("ADDED", "5"))),
        {
          [name]: () => {
            throw bug;
          },
        },
      );
      await expect(ended).rejects.toBe(bug);
    },
  );
});
