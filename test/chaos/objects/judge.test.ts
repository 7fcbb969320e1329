import { describe, expect, it } from "vitest";
import { type ObjectEntry, readObjectHistory } from "./history.mjs";
import { judgeObjects } from "./judge.mjs";

const verdictOf = async (entries: ObjectEntry[]) =>
  judgeObjects(await readObjectHistory(entries.map((entry) => JSON.stringify(entry))));
const kindsOf = async (entries: ObjectEntry[]) =>
  (await verdictOf(entries)).violations.map(({ kind }) => kind);

type Facts = Partial<Extract<ObjectEntry, { kind: "object-invoke" }>> &
  Partial<Omit<Extract<ObjectEntry, { kind: "object-return" }>, "kind" | "op" | "atMs" | "value">> & {
    found?: string;
    takesMs?: number;
  };
let op = 0;

/** A request that was sent and answered. */
function request(atMs: number, what: "write" | "delete" | "read" | "list", facts: Facts = {}): ObjectEntry[] {
  const { outcome = "ok", revision, found, items, text, takesMs = 5, ...invoked } = facts;
  op += 1;
  const sent = { kind: "object-invoke", op, server: "s0", what, atMs, ...invoked } as const;
  const answer = { outcome, revision, items, text, value: found } as { outcome: "ok" };
  return [sent, { kind: "object-return", op, atMs: atMs + takesMs, ...answer }];
}

const write = (atMs: number, value: string, over: number | undefined, facts: Facts = {}) =>
  request(atMs, "write", { object: "x", value, ...(over !== undefined && { over }), ...facts });
const event = (watcher: string, revision: number, value?: string, object = "x"): ObjectEntry => ({
  kind: "object-event",
  watcher,
  object,
  revision,
  ...(value !== undefined && { value }),
});
const watch = (watcher: string, after: number, isNew = true): ObjectEntry => ({
  kind: "object-watch",
  watcher,
  server: "s0",
  after,
  isNew,
});

/** An object is created, changed, deleted and created again, and one watcher sees it all. */
const good = () => [
  watch("w", 1),
  ...write(100, "a", undefined, { revision: 10 }),
  ...request(110, "read", { object: "x", found: "a", revision: 10, server: "s1" }),
  ...write(120, "b", 10, { revision: 12 }),
  ...request(130, "list", { revision: 13, items: [{ object: "x", value: "b", revision: 12 }] }),
  ...request(140, "delete", { object: "x", over: 12 }),
  ...request(150, "read", { object: "x" }),
  ...request(155, "list", { revision: 15, items: [], server: "s2" }),
  ...write(160, "c", undefined, { revision: 20 }),
  event("w", 10, "a"),
  event("w", 12, "b"),
  event("w", 14),
  watch("w", 14, false),
  event("w", 20, "c"),
  { kind: "object-end", revision: 20 } as const,
];

describe("a good history", () => {
  it("has no finding, and counts", async () => {
    expect(await verdictOf(good())).toMatchObject({
      violations: [],
      acknowledged: 4,
      unknown: 0,
      events: 4,
      relisted: 0,
    });
  });

  it("may have a write without an answer, with or without its effect", async () => {
    const lost = write(170, "d", 20, { outcome: "unavailable", text: "etcd does not answer" });
    expect(await kindsOf([...good(), ...lost])).toEqual([]);
    expect(await kindsOf([...good(), ...lost, event("w", 21, "d")])).toEqual([]);
    expect((await verdictOf([...good(), ...lost])).unknown).toBe(1);
  });

  it("may have a watcher that lists again instead of getting the events in between", async () => {
    expect(await kindsOf([watch("late", 1), watch("late", 15), event("late", 20, "c"), ...good()])).toEqual(
      [],
    );
  });

  it("may have requests without an answer to a server that was down", async () => {
    const none = request(300, "read", { object: "x", outcome: "none" });
    const outage = { kind: "object-outage", server: "s0", fromMs: 250, toMs: 400 } as const;
    expect(await kindsOf([...good(), ...none, outage])).toEqual([]);
  });

  it("may have a time without a majority", async () => {
    const entries = [
      ...good(),
      { kind: "object-majority", fromMs: 1_000, toMs: 9_000, backMs: 9_050 } as const,
      ...write(2_000, "d", 20, { outcome: "unavailable" }),
      ...write(9_100, "e", 20, { revision: 30 }),
    ];
    expect(await kindsOf(entries)).toEqual([]);
  });
});

describe("a bad history", () => {
  it.each<[string, string[], ObjectEntry[]]>([
    [
      "an acknowledged write that another one replaced unseen",
      ["lost-write"],
      [...good(), ...write(170, "d", 20, { revision: 21 }), ...write(180, "e", 20, { revision: 22 })],
    ],
    [
      "a created object that replaced another one",
      ["lost-write"],
      [...good(), ...write(170, "d", undefined, { revision: 21 })],
    ],
    [
      "an acknowledged deletion that did not happen",
      ["lost-write"],
      [
        ...good(),
        ...request(170, "delete", { object: "x", over: 20 }),
        ...write(180, "d", 20, { revision: 22 }),
      ],
    ],
    [
      "a read that shows an older version than the one acknowledged before, through another server",
      ["revision-back"],
      [...good(), ...request(170, "read", { object: "x", found: "b", revision: 12, server: "s2" })],
    ],
    [
      "a read that does not find what was acknowledged before",
      ["revision-back"],
      [...good(), ...request(170, "read", { object: "x" })],
    ],
    [
      "a list that is older than an acknowledged write",
      ["revision-back"],
      [...good(), ...request(170, "list", { revision: 14, items: [] })],
    ],
    [
      "a write whose revision is lower than one known before, so that watches have passed it",
      ["revision-back", "watch-gap"],
      [...good(), ...write(170, "z", undefined, { object: "y", revision: 19 })],
    ],
    [
      "a list that lacks an object",
      ["wrong-read"],
      [...good(), ...request(170, "list", { revision: 25, items: [] })],
    ],
    [
      "a value that nobody wrote",
      ["wrong-read"],
      [...good(), ...request(170, "read", { object: "x", found: "ghost", revision: 30 })],
    ],
    [
      "a value whose write was refused",
      ["wrong-read"],
      [...good(), ...write(170, "d", 20, { outcome: "refused" }), event("w", 21, "d")],
    ],
    ["two values at one revision", ["wrong-read"], [...good(), watch("v", 19), event("v", 20, "b")]],
    ["a watch that misses a change", ["watch-gap"], good().filter((entry) => !isEvent(entry, 12))],
    ["a watch that misses a deletion", ["watch-gap"], [watch("v", 12), event("v", 20, "c"), ...good()]],
    [
      "a watch that misses a change in the gap between two connections",
      ["watch-gap"],
      [
        watch("v", 1),
        event("v", 10, "a"),
        watch("v", 12, false),
        event("v", 14),
        event("v", 20, "c"),
        ...good(),
      ],
    ],
    [
      "a watch that reports a change twice",
      ["watch-gap"],
      [...good(), watch("w", 14, false), event("w", 20, "c")],
    ],
    ["a watch that never reaches the end", ["watch-gap"], [watch("v", 15), ...good()]],
    [
      "an error that does not name the cause",
      ["unclear-error"],
      [...good(), ...request(170, "read", { object: "x", outcome: "unclear", text: "500 oops" })],
    ],
    [
      "a server that runs and does not answer",
      ["no-answer"],
      [...good(), ...request(170, "read", { object: "x", outcome: "none", takesMs: 50_000 })],
    ],
    [
      "a server that answers too late",
      ["no-answer"],
      [...good(), ...write(170, "d", 20, { outcome: "unavailable", takesMs: 50_000 })],
    ],
    [
      "a write that was acknowledged without a majority",
      ["lost-write"],
      [
        ...good(),
        { kind: "object-majority", fromMs: 1_000, toMs: 9_000, backMs: 9_050 },
        ...write(5_000, "d", 20, { revision: 21 }),
        ...write(9_100, "e", 21, { revision: 30 }),
      ],
    ],
    [
      "no write after a majority is back",
      ["no-progress"],
      [...good(), { kind: "object-majority", fromMs: 1_000, toMs: 9_000, backMs: 9_050 }],
    ],
  ])("is found: %s", async (_what, kinds, entries) => {
    expect([...new Set(await kindsOf(entries))]).toEqual(kinds);
  });
});

function isEvent(entry: ObjectEntry, revision: number): boolean {
  return entry.kind === "object-event" && entry.revision === revision;
}
