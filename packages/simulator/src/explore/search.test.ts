import { describe, expect, it } from "vitest";
import { search } from "./search.ts";
import { noFaults } from "./world.ts";

describe("search", () => {
  it("exhausts two candidates with one delay and finds no violation", () => {
    const result = search({ candidates: 2, delays: 1, faults: noFaults });
    expect(result).toMatchObject({ isExhausted: true });
    expect(result.violation).toBeUndefined();
    expect(result.states).toBeGreaterThan(1_000);
  });

  it("stops at the given number of states", () => {
    const result = search({ candidates: 2, delays: 1, faults: noFaults }, { mostStates: 500 });
    expect(result).toMatchObject({ isExhausted: false, states: 500 });
  });
});
