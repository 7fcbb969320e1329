import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { closed, type Seen, sendJson, status } from "../testing/api-server.ts";
import { endWatches, errorEvent, event, open, path, startWatch, versionAsked } from "../testing/watching.ts";

afterEach(endWatches);

describe("a watch", () => {
  it("asks for everything at first, and tells events but not bookmarks", async () => {
    const { server, said } = await startWatch((seen) =>
      open(seen, event("ADDED", "5"), event("BOOKMARK", "6"), event("MODIFIED", "7"), event("DELETED", "8")),
    );
    expect(await said(4)).toEqual(["up", "ADDED 5", "MODIFIED 7", "DELETED 8"]);
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
  ])("spreads the length of the stream: chance %d gives %s s", async (chance, seconds) => {
    const { server, platform, said } = await startWatch((seen) => open(seen, event("ADDED", "1")));
    await said(1);
    platform.chance = chance;
    server.handler = (seen) => open(seen, event("ADDED", "2"));
    server.seen[0]?.response.end();
    const next = await server.requests(2);
    expect(next.url.searchParams.get("timeoutSeconds")).toBe(seconds);
  });

  it("has a connection of its own, and requests go past it", async () => {
    const { server, client, said } = await startWatch((seen) =>
      seen.url.searchParams.has("watch") ? open(seen) : sendJson(seen, 200, {}),
    );
    await said(1);
    await client.request({ method: "GET", path });
    await client.request({ method: "GET", path });
    expect(server.connections).toBe(2);
  });

  it("takes lines cut anywhere, also inside a character", async () => {
    const text = Buffer.from(event("ADDED", "5", { name: "löck-🔒" }) + event("MODIFIED", "6"));
    const names: unknown[] = [];
    const { said } = await startWatch(
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
    await said(1);
    while (names.length < 2) await new Promise(setImmediate);
    expect(names).toEqual(["löck-🔒", undefined]);
  });
});

describe("a stream that ends in order", () => {
  it.each([
    ["an event", event("ADDED", "5"), "5"],
    ["a bookmark", event("ADDED", "5") + event("BOOKMARK", "42"), "42"],
  ])("is resumed after the last version seen, in %s, without a word", async (_what, lines, version) => {
    const { server, platform, said, log } = await startWatch((seen) => open(seen, lines));
    await said(2);
    server.handler = (seen) => open(seen, event("MODIFIED", "50"));
    platform.advance(3_300_000);
    server.seen[0]?.response.end();
    expect(versionAsked(await server.requests(2))).toBe(version);
    await said(3);
    expect(log).toEqual(["up", "ADDED 5", "MODIFIED 50"]);
  });

  it("starts over where nothing was ever seen, and says so", async () => {
    const { server, said } = await startWatch((seen) => open(seen));
    await said(1);
    server.seen[0]?.response.end();
    expect(versionAsked(await server.requests(2))).toBeNull();
    expect(await said(2)).toEqual(["up", "up"]);
  });

  it("is down if the server is not there at the first try", async () => {
    const { server, platform, said } = await startWatch((seen) => open(seen, event("ADDED", "5")));
    await said(2);
    server.handler = (seen) => sendJson(seen, 503, status(503, "ServiceUnavailable", "starting"));
    platform.advance(10_000);
    server.seen[0]?.response.end();
    expect((await said(3))[2]).toBe("down ServerError");
    server.handler = (seen) => open(seen);
    await platform.timer(75);
    platform.advance(75);
    expect((await said(4))[3]).toBe("up again");
  });

  it("is not asked in a tight loop when it ends as soon as it begins", async () => {
    const { server, platform, said } = await startWatch((seen) => {
      open(seen, event("ADDED", "5"));
      seen.response.end();
    });
    const log = await said(4);
    expect(log).toEqual(["up", "ADDED 5", "ADDED 5", "down Unreachable"]);
    await platform.timer(75);
    expect(server.seen.length).toBe(2);
  });
});

it("streams that end in order after a second or more never count as broken", async () => {
  const { server, platform, said, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
  for (let i = 1; i <= 4; i++) {
    await said(i + 1);
    platform.advance(1_000);
    server.seen.at(-1)?.response.end();
  }
  await said(6);
  expect(log).toEqual(["up", "ADDED 5", "ADDED 5", "ADDED 5", "ADDED 5", "ADDED 5"]);
});

describe("410 Gone", () => {
  it.each([
    ["as an answer", (seen: Seen) => sendJson(seen, 410, status(410, "Expired", "too old"))],
    ["as an event", (seen: Seen) => open(seen, errorEvent(410, "Expired"))],
  ])(
    "%s starts over without a version, at once, and says that it is not a resumption",
    async (_how, gone) => {
      const { server, said, log } = await startWatch((seen) => open(seen, event("ADDED", "5")));
      await said(2);
      server.handler = (seen) => (versionAsked(seen) ? gone(seen) : open(seen, event("ADDED", "900")));
      server.seen[0]?.response.end();
      await said(4);
      expect(log).toEqual(["up", "ADDED 5", "up", "ADDED 900"]);
      expect(server.seen.map(versionAsked)).toEqual([null, "5", null]);
    },
  );
  it("without a version to be too old is an error like others, and is waited for", async () => {
    const { server, platform, said } = await startWatch((seen) =>
      sendJson(seen, 410, status(410, "Gone", "gone")),
    );
    expect(await said(1)).toEqual(["down Gone"]);
    await platform.timer(75);
    expect(server.seen.length).toBe(1);
  });
});

describe("the end of a watch", () => {
  it("comes with the signal, whatever is going on, and leaves nothing behind", async () => {
    const { server, platform, controller, said, ended } = await startWatch(
      (seen) => open(seen, event("ADDED", "5")),
      {
        idleMs: 1000,
      },
    );
    await said(2);
    const { socket } = server.seen[0] as Seen;
    controller.abort();
    await ended;
    expect(platform.timers).toEqual([]);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    await closed(socket);
  });
  it("comes at once while waiting to try again", async () => {
    const { platform, controller, ended } = await startWatch((seen) => void seen.socket.destroy());
    await platform.timer(75);
    controller.abort();
    await ended;
    expect(platform.timers).toEqual([]);
  });
  it("calls nothing for a signal that had aborted before", async () => {
    const { server, log, ended } = await startWatch((seen) => open(seen), { signal: AbortSignal.abort() });
    await ended;
    expect([log, server.seen.length]).toEqual([[], 0]);
  });
  it("in the middle of a chunk keeps the rest to itself", async () => {
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
    const { client, controller, said, ended, log } = await startWatch((seen) => open(seen));
    await said(1);
    client.close();
    await ended;
    expect(log).toEqual(["up"]);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });
  it.each(["onEvent", "onUp", "onDown"] as const)(
    "comes when %s throws, with what it threw",
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
