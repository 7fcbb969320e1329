import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Entry, HistoryFile, type Invocation, nowMs, readHistory } from "./history.mjs";
import { judge } from "./judge.mjs";
import { fenced, good, killed, kindsOf, verdictOf, Worker } from "./stories.ts";

describe("a good history", () => {
  it.each([
    ["an open register", good()],
    ["a fenced register", good(fenced)],
    ["workers that do not check the clock", good(killed)],
    ["nothing", []],
  ])("of %s has no finding", async (_of, entries) => {
    const { violations, unjudged, late } = await verdictOf(entries);
    expect({ violations, unjudged, late }).toEqual({ violations: [], unjudged: [], late: 0 });
  });

  it("has terms and the gap between them", async () => {
    const { terms, gapsMs, operations } = await verdictOf(good());
    expect(terms.map(({ id, firstMs, lastMs }) => [id, firstMs, lastMs])).toEqual([
      ["a", 100, 120],
      ["b", 200, 210],
    ]);
    expect([gapsMs, operations]).toEqual([[80], 5]);
  });

  it("may have a write whose answer is missing, with or without its effect", async () => {
    const seen = (value: string, seq: number) => {
      const a = new Worker("a", 10);
      const b = new Worker("b", 20, 2);
      return [
        ...a.read(100, 0, ""),
        ...a.write(110, 1, "a1"),
        ...a.write(120, "unknown", "a2"),
        ...b.read(200, seq, value),
        ...b.write(210, seq + 1, "b1"),
        ...b.write(220, seq + 2, "b2"),
      ];
    };
    expect(await kindsOf(seen("a1", 1))).toEqual([]);
    expect(await kindsOf(seen("a2", 2))).toEqual([]);
    expect((await verdictOf(seen("a2", 2))).unknown).toBe(1);
  });

  it("may have a line that a kill cut short", async () => {
    const lines = good().map((entry) => JSON.stringify(entry));
    const cut = [...lines, JSON.stringify(good()[2]).slice(0, 40)];
    expect(judge(await readHistory(cut)).violations).toEqual([]);
  });
});

describe("work that overlaps", () => {
  it("is found, also if the tokens are in order and nothing is lost", async () => {
    const a = new Worker("a", 10);
    const b = new Worker("b", 20, 2);
    const entries = [
      ...a.read(100, 0, ""),
      ...b.read(110, 0, "", fenced),
      ...b.write(115, 1, "b1", fenced),
      ...a.write(120, 1, "a1"),
    ];
    const { violations } = await verdictOf(entries);
    expect(violations.map(({ kind }) => kind)).toEqual(["overlap"]);
    expect(violations[0]?.text).toBe(
      "a (token 10, 100–120) and b (token 20, 110–115) work at the same time for 10.0 ms",
    );
  });

  it("is found between terms that are not neighbours", async () => {
    const [a, b, c] = [new Worker("a", 10), new Worker("b", 20, 2), new Worker("c", 30, 3)];
    const long = [...a.read(100, 0, ""), ...a.read(500, 0, "")];
    expect(await kindsOf([...long, ...b.read(200, 0, ""), ...c.read(300, 0, "")])).toEqual([
      "overlap",
      "overlap",
    ]);
  });

  it("is found between two processes of one term", async () => {
    const [one, two] = [new Worker("a", 10, 1), new Worker("a", 10, 2)];
    expect(
      await kindsOf([...one.read(100, 0, ""), ...two.read(110, 0, ""), ...one.read(120, 0, "")]),
    ).toEqual(["overlap"]);
  });

  it("includes the answer if the worker must be dead by then", async () => {
    const entries = (facts: Partial<Invocation>) => {
      const [a, b] = [new Worker("a", 10, 1, facts), new Worker("b", 20, 2)];
      return [...a.write(100, 1, "a1", { takesMs: 200 }), ...b.read(200, 0, "", fenced)];
    };
    expect(await kindsOf(entries({ checks: true }))).toEqual([]);
    expect(await kindsOf(entries(killed))).toEqual(["overlap"]);
  });

  it("is a violation after a restore too", async () => {
    const [a, b] = [new Worker("a", 20), new Worker("b", 10, 2)];
    const restore: Entry = { kind: "restore", fromMs: 105, toMs: 109, bumped: false };
    expect(
      await kindsOf([...a.read(100, 0, ""), restore, ...b.read(110, 0, ""), ...a.read(120, 0, "")]),
    ).toEqual(["overlap"]);
  });

  it("is listed apart only if the machine stalled and the worker relies on being killed", async () => {
    const entries = (facts: Partial<Invocation>, stallMs: number): Entry[] => {
      const [a, b] = [new Worker("a", 10, 1, { untilMs: 5_000, ...facts }), new Worker("b", 20, 2)];
      return [
        ...a.read(4_000, 0, ""),
        { kind: "stall", fromMs: 4_500, toMs: 4_500 + stallMs },
        ...b.read(4_990, 0, ""),
        ...a.read(4_995, 0, ""),
      ];
    };
    const counts = async (facts: Partial<Invocation>, stallMs: number) => {
      const { violations, unjudged } = await verdictOf(entries(facts, stallMs));
      return [violations.length, unjudged.length];
    };
    expect(await counts(killed, 300)).toEqual([0, 1]);
    expect(await counts(killed, 100)).toEqual([1, 0]);
    expect(await counts({}, 300)).toEqual([1, 0]);
  });
});

describe("tokens", () => {
  const terms = (...tokens: number[]) =>
    tokens.flatMap((token, index) => new Worker(`r${index}`, token, index).read(100 * (index + 1), 0, ""));
  const restore = (atMs: number, bumped = false): Entry => ({
    kind: "restore",
    fromMs: atMs,
    toMs: atMs + 10,
    bumped,
  });

  it.each<[string, Entry[], number]>([
    ["grow", terms(10, 20, 30), 0],
    ["fall", terms(10, 30, 20), 1],
    ["are equal for two candidates", terms(10, 10), 1],
    ["fall at a restore", [...terms(10, 30, 20), restore(250)], 0],
    ["fall at a restore with a raised revision", [...terms(10, 30, 20), restore(250, true)], 1],
    ["fall twice at one restore", [...terms(30, 20, 10), restore(150)], 1],
    ["fall twice at two restores", [...terms(30, 20, 10), restore(150), restore(250)], 0],
    ["fall before a restore", [...terms(30, 20), restore(250)], 1],
  ])("%s", async (_what, entries, count) =>
    expect(await kindsOf(entries)).toEqual(new Array(count).fill("token-order")),
  );

  it("of one candidate may be equal before and after a restore, and belong to two terms", async () => {
    const [one, two] = [new Worker("a", 10, 1), new Worker("a", 10, 2)];
    const end: Entry = { kind: "ended", id: "a", token: "10", atMs: 150 };
    const entries = [...one.read(100, 0, ""), end, restore(200), ...two.read(300, 0, "")];
    const { terms, violations } = await verdictOf(entries);
    expect([terms.length, violations]).toEqual([2, []]);
  });

  it("fall long after a restore", async () => {
    const later = [
      new Worker("a", 30).read(10_000, 0, ""),
      new Worker("b", 20, 2).read(11_000, 0, ""),
    ].flat();
    expect(await kindsOf([restore(100), ...later])).toEqual(["token-order"]);
  });
});

describe("work after the end of its term", () => {
  it("is found if the term had ended", async () => {
    const a = new Worker("a", 10);
    const end: Entry = { kind: "ended", id: "a", token: "10", atMs: 150 };
    expect(await kindsOf([...a.write(100, 1, "a1"), end, ...a.write(151, 2, "a2")])).toEqual(["after-end"]);
  });

  it("is found if the deadline had passed", async () => {
    const a = new Worker("a", 10, 1, { untilMs: 150 });
    const { violations } = await verdictOf([...a.write(150, 1, "a1"), ...a.write(160.5, 2, "a2")]);
    expect(violations.map(({ text }) => text)).toEqual([
      "process 1 of a (token 10) began a write 10.5 ms after the end of its term",
    ]);
  });
});

it("reads what several writers appended to one file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tenure-history-"));
  try {
    const path = join(folder, "history.ndjson");
    const [one, two] = [new HistoryFile(path), new HistoryFile(path)];
    for (const [index, entry] of good().entries()) (index % 2 === 0 ? one : two).append(entry);
    one.close();
    two.close();
    const history = await readHistory(readFileSync(path, "utf8").split("\n"));
    expect(judge(history)).toEqual(judge(await readHistory(good().map((entry) => JSON.stringify(entry)))));
    expect(nowMs()).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
