import { describe, expect, it } from "vitest";
import { BackOff } from "./back-off.ts";

describe("BackOff", () => {
  it("waits 1, 2, 4, 8, 16, 30, 30 s", () => {
    const backOff = new BackOff({}, () => 0);
    expect(Array.from({ length: 7 }, () => backOff.next())).toEqual([
      1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
    ]);
  });

  it("takes up to a fifth off by chance, and never adds to it", () => {
    const backOff = new BackOff({}, () => 0.999_999);
    expect(backOff.next()).toBeCloseTo(800, 1);
    expect(backOff.next()).toBeCloseTo(1_600, 1);
  });

  it("begins again after a reset", () => {
    const backOff = new BackOff({}, () => 0);
    backOff.next();
    backOff.next();
    backOff.reset();
    expect(backOff.tries).toBe(0);
    expect(backOff.next()).toBe(1_000);
  });

  it("stays at its longest wait after years of tries", () => {
    const backOff = new BackOff({}, () => 0);
    for (let tries = 0; tries < 5_000; tries++) backOff.next();
    expect(backOff.next()).toBe(30_000);
  });
});
