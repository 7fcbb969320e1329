import { describe, expect, it } from "vitest";
import type { Entry, Invocation } from "./history.mjs";
import { fenced, good, kindsOf, verdictOf, Worker } from "./stories.ts";

describe("a write with an older token", () => {
  const entries = (facts: Partial<Invocation>, sentMs: number): Entry[] => {
    const [a, b] = [new Worker("a", 10, 1, facts), new Worker("b", 20, 2, facts)];
    return [
      ...a.write(100, 1, "a1"),
      ...b.read(200, 1, "a1"),
      ...b.write(210, 2, "b1"),
      ...a.write(sentMs, 3, "a2", { takesMs: 300 }),
      ...b.write(400, 4, "b2"),
    ];
  };

  it("is stale if it began after the newer term", async () => {
    expect(await kindsOf(entries({}, 220))).toEqual(expect.arrayContaining(["stale-write", "overlap"]));
  });

  it("is only late if it was sent before and the register is open", async () => {
    const { violations, late } = await verdictOf(entries({}, 150));
    expect([violations, late]).toEqual([[], 1]);
  });

  it("must not be accepted by a fenced register, even if it was sent before", async () => {
    expect(await kindsOf(entries(fenced, 150))).toEqual(
      expect.arrayContaining(["stale-write", "lost-write"]),
    );
  });

  it("must not be accepted by a fenced register after a read with the newer token", async () => {
    const [a, b] = [new Worker("a", 10, 1, fenced), new Worker("b", 20, 2, fenced)];
    expect(await kindsOf([...b.read(200, 0, ""), ...a.write(150, 1, "a1", { takesMs: 300 })])).toEqual([
      "stale-write",
    ]);
  });

  it("is accepted after the register was told to forget", async () => {
    const [a, b] = [new Worker("a", 20, 1, fenced), new Worker("b", 10, 2, fenced)];
    const restore: Entry[] = [
      { kind: "restore", fromMs: 150, toMs: 160, bumped: false },
      { kind: "reset", register: "fenced", seq: 1 },
    ];
    const after = [...b.read(200, 1, "a1"), ...b.write(210, 2, "b1")];
    expect(await kindsOf([...a.write(100, 1, "a1"), ...restore, ...after])).toEqual([]);
  });
});

describe("an acknowledged write", () => {
  it("is lost if another worker replaces an older value", async () => {
    const [a, b] = [new Worker("a", 10), new Worker("b", 20, 2)];
    const { violations } = await verdictOf([
      ...a.read(100, 0, ""),
      ...a.write(110, 1, "a1"),
      ...b.read(200, 1, "a1"),
      ...a.write(205, 2, "a2"),
      ...b.write(210, 3, "b1"),
    ]);
    const lost = violations.filter(({ kind }) => kind === "lost-write");
    expect(lost.length).toBe(1);
    expect(lost[0]?.text).toContain(
      "the write of a2 by a (token 10, sent at 205) was acknowledged and is lost",
    );
  });

  it("is lost if the next leader does not build on it", async () => {
    const [a, b] = [new Worker("a", 10), new Worker("b", 20, 2)];
    const entries = [
      ...a.write(100, 1, "a1"),
      ...a.write(110, 2, "a2"),
      ...b.write(200, 3, "b1", { after: "a1" }),
    ];
    expect(await kindsOf(entries)).toEqual(["lost-write"]);
  });

  it("is lost if another worker replaces a value that only a read has shown", async () => {
    const [a, b, c] = [new Worker("a", 10), new Worker("b", 20, 2), new Worker("c", 30, 3)];
    const entries = [
      ...a.write(100, "unknown", "a1"),
      ...b.read(200, 1, "a1"),
      ...c.read(210, 1, "a1"),
      ...c.write(220, 2, "c1"),
      ...b.write(230, 3, "b1"),
    ];
    expect(await kindsOf(entries)).toContain("lost-write");
  });

  it("is lost if a later read does not show it", async () => {
    const [a, b] = [new Worker("a", 10), new Worker("b", 20, 2)];
    const entries = [...a.write(100, 1, "a1"), ...a.write(110, 2, "a2"), ...b.read(200, 1, "a1")];
    expect(await kindsOf(entries)).toContain("lost-write");
  });

  it("is lost if the last read of the test does not show it", async () => {
    const observer = new Worker("observer", 0, 9);
    expect(await kindsOf([...new Worker("a", 10).write(100, 1, "a1"), ...observer.read(500, 0, "")])).toEqual(
      ["lost-write"],
    );
  });

  it("has a number of its own, and only one value", async () => {
    const [a, b] = [new Worker("a", 10), new Worker("b", 20, 2)];
    const twice = [...a.write(100, 1, "a1"), ...b.write(200, 1, "b1", { after: "a1" })];
    expect(await kindsOf(twice)).toContain("register");
    expect(await kindsOf([...good(), ...b.read(300, 3, "a2")])).toEqual(["register"]);
  });
});

describe("two workers of one term", () => {
  it("cannot be told apart by a fence, so a write that was sent before the second one began is only late", async () => {
    const [one, two] = [new Worker("a", 10, 1, fenced), new Worker("a", 10, 2, fenced)];
    const entries = [
      ...one.write(100, 1, "a1"),
      ...two.read(200, 1, "a1"),
      ...one.write(150, 2, "a2", { takesMs: 100 }),
      ...two.write(300, 3, "b1"),
    ];
    expect(await kindsOf(entries)).toEqual([]);
  });
});

describe("a read", () => {
  const a = () => new Worker("a", 10);

  it.each<[string, Entry[]]>([
    ["of a value that nobody wrote", a().read(100, 0, "x")],
    ["of a refused value", [...a().write(100, "refused", "a1"), ...a().read(110, 0, "a1")]],
    ["of a value that is written later", [...a().read(100, 1, "a1"), ...a().write(200, 1, "a1")]],
    ["from the other register", [...a().write(100, 1, "a1", fenced), ...a().read(110, 0, "a1")]],
  ])("%s is a phantom", async (_what, entries) => expect(await kindsOf(entries)).toContain("phantom-read"));

  it("that only a write shows is a phantom too", async () => {
    expect(await kindsOf(a().write(100, 1, "a1", { after: "x" }))).toEqual(["phantom-read"]);
  });
});
