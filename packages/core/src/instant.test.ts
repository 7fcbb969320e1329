import type { Instant } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { clockJumpMs, dueMs, elapsedMs, moveAcrossJump } from "./instant.ts";

const at = (monoMs: number, wallMs: number): Instant => ({ monoMs, wallMs });

describe("elapsedMs", () => {
  it.each([
    ["both clocks agree", at(0, 1_000), at(500, 1_500), 500],
    ["the machine was suspended, which only the wall clock shows", at(0, 1_000), at(500, 61_000), 60_000],
    ["the wall clock was set back", at(0, 1_000), at(500, -9_000), 500],
    ["no time has passed", at(7, 7), at(7, 7), 0],
  ])("is the time by the clock that shows more when %s", (_when, since, now, expected) => {
    expect(elapsedMs(since, now)).toBe(expected);
  });
});

describe("dueMs", () => {
  it.each([
    ["in the future by the remaining time", at(100, 0), 1_000, at(400, 300), 1_100],
    ["sooner when the wall clock ran ahead", at(100, 0), 1_000, at(400, 800), 600],
    ["not later when the wall clock was set back", at(100, 0), 1_000, at(400, -5_000), 1_100],
    ["in the past when it has already passed", at(100, 0), 1_000, at(2_000, 1_900), 1_100],
    ["now when it is due now", at(100, 0), 1_000, at(1_100, 1_000), 1_100],
  ])("is %s", (_what, since, afterMs, now, expected) => expect(dueMs(since, afterMs, now)).toBe(expected));
});

describe("clockJumpMs", () => {
  const skewMs = 1_000;
  it.each([
    ["both clocks advanced equally", at(500, 1_500), 0],
    ["they differ by a rounding error", at(500, 1_519), 0],
    ["they differ by a negative rounding error", at(500, 1_481), 0],
    ["the wall clock jumped forward", at(500, 61_500), 60_000],
    ["the wall clock was set back", at(500, -58_500), -60_000],
    ["the jump is the smallest that counts", at(500, 1_520), 20],
  ])("when %s", (_when, now, jumpMs) => expect(clockJumpMs(skewMs, now)).toBe(jumpMs));
});

describe("moveAcrossJump", () => {
  const before = at(1_000, 51_000);
  it("counts a jump forward by both clocks, whatever the wall clock does next", () => {
    const moved = moveAcrossJump(before, 60_000);
    expect(elapsedMs(moved, at(2_000, 112_000))).toBe(61_000);
    expect(elapsedMs(moved, at(2_000, 0))).toBe(61_000);
  });

  it("moves the monotonic reading for a jump forward, and the wall reading for a jump back", () => {
    expect(moveAcrossJump(before, 1)).toEqual(at(999, 51_000));
    expect(moveAcrossJump(before, -1)).toEqual(at(1_000, 50_999));
  });

  it("does not let a clock that was set back hide a later suspension", () => {
    const moved = moveAcrossJump(before, -3_600_000);
    expect(elapsedMs(moved, at(2_000, 52_000 - 3_600_000))).toBe(1_000);
    expect(elapsedMs(moved, at(2_000, 112_000 - 3_600_000))).toBe(61_000);
  });
});
