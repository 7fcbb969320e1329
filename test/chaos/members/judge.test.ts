import { describe, expect, it } from "vitest";
import { type Entry, follow, judgeMembers } from "./judge.mjs";

let passedMs = 0;
/** Each entry is 100 ms after the one before. */
function nextMs(): number {
  passedMs += 100;
  return passedMs;
}

const entry = (what: Entry["what"], id: string, shard = 0, token = "1"): Entry => ({
  what,
  id,
  shard,
  token,
  atMs: nextMs(),
});

describe("judgeMembers", () => {
  it("accepts one owner after the other, and measures the time between", () => {
    const entries = [entry("start", "a"), entry("stop", "a"), entry("start", "b", 0, "2")];
    expect(judgeMembers(entries)).toMatchObject({ doubles: [], gapsMs: [100] });
  });

  it("finds two owners", () => {
    expect(judgeMembers([entry("start", "a"), entry("start", "b", 0, "2")]).doubles).toHaveLength(1);
    expect(judgeMembers([entry("start", "a"), entry("start", "b", 1, "2")]).doubles).toEqual([]);
  });

  it("finds a frozen owner that goes on", () => {
    const entries = [entry("start", "a"), entry("frozen", "a"), entry("start", "b", 0, "2")];
    expect(judgeMembers(entries).doubles).toEqual([]);
    expect(judgeMembers([...entries, entry("step", "a")]).doubles).toHaveLength(1);
    expect(judgeMembers([...entries, entry("stop", "a"), entry("step", "b", 0, "2")]).doubles).toEqual([]);
  });

  it("finds a token that does not grow", () => {
    const entries = [entry("start", "a", 0, "2"), entry("killed", "a"), entry("start", "b", 0, "2")];
    expect(judgeMembers(entries).doubles).toHaveLength(1);
  });

  it("counts moves after the first distribution", () => {
    const settled = (least: number): Entry => ({ what: "settled", atMs: nextMs(), least });
    const entries = [
      ...[entry("start", "a", 0), entry("start", "a", 1), settled(0)],
      ...[entry("stop", "a", 1), entry("start", "b", 1, "2"), settled(1)],
      ...[entry("stop", "a", 0), entry("start", "a", 0, "3"), settled(0)],
    ];
    expect(judgeMembers(entries)).toMatchObject({ moves: 1, leastMoves: 1 });
  });
});

it("follow shows who works", () => {
  const owners = new Map<number, string>();
  follow(owners, [entry("start", "a", 0), entry("start", "b", 1), entry("killed", "b")]);
  follow(owners, [entry("start", "a", 2), entry("stop", "a", 2), entry("step", "a", 3)]);
  expect([...owners]).toEqual([[0, "a"]]);
});
