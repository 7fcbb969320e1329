import { describe, expect, it } from "vitest";
import { Backoff, backoffMs } from "./backoff.ts";

const policy = { firstMs: 1_000, mostMs: 30_000, jitter: 0 };

describe("backoffMs", () => {
  it("doubles from the first wait to the longest", () => {
    const waits = Array.from({ length: 8 }, (_, failures) => backoffMs(policy, failures, 0.5));
    expect(waits).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it("stays at the longest wait after any number of failures", () => {
    expect(backoffMs(policy, 1e9, 0.5)).toBe(30_000);
  });

  it.each([
    [0, 500],
    [0.5, 750],
    [1, 1_000],
  ])("with a jitter of one half, the random number %d gives %d ms of 1000", (random, ms) => {
    expect(backoffMs({ ...policy, jitter: 0.5 }, 1, random)).toBe(ms);
  });
});

describe("Backoff", () => {
  it("counts failures until it is reset", () => {
    const backoff = new Backoff(policy, () => 0);
    expect([backoff.next(), backoff.next(), backoff.failures]).toEqual([1_000, 2_000, 2]);
    backoff.reset();
    expect([backoff.failures, backoff.next()]).toEqual([0, 1_000]);
  });

  it("takes another longest wait for one call", () => {
    const backoff = new Backoff(policy, () => 0);
    expect([backoff.next(300), backoff.next()]).toEqual([300, 2_000]);
  });
});
