import type { SetViolation } from "./checker.ts";
import { type SetWidth, simulateSet } from "./simulation.ts";

export interface SetSummary {
  readonly seeds: number;
  readonly simulatedMs: number;
  readonly starts: number;
  readonly faults: number;
  readonly longestUnownedMs: number;
  readonly moved: number;
  readonly leastMoves: number;
  readonly failures: readonly SetFailure[];
}

interface SetFailure {
  readonly seed: number;
  readonly violation: SetViolation;
  readonly lines: readonly string[];
}

export const emptySetSummary: SetSummary = {
  seeds: 0,
  simulatedMs: 0,
  starts: 0,
  faults: 0,
  longestUnownedMs: 0,
  moved: 0,
  leastMoves: 0,
  failures: [],
};

/** Simulates these seeds. Each seed reports its first violation. */
export async function simulateSets(
  from: number,
  seeds: number,
  stopsAtViolation: boolean,
  width: SetWidth,
): Promise<SetSummary> {
  let summary = emptySetSummary;
  for (let seed = from; seed < from + seeds; seed++) {
    const { violations, lines, ...figures } = await simulateSet(seed, width);
    const [violation] = violations;
    const failures = violation ? [{ seed, violation, lines }] : [];
    summary = addSets(summary, { seeds: 1, ...figures, failures });
    if (violation && stopsAtViolation) break;
  }
  return summary;
}

export function addSets(a: SetSummary, b: SetSummary): SetSummary {
  return {
    seeds: a.seeds + b.seeds,
    simulatedMs: a.simulatedMs + b.simulatedMs,
    starts: a.starts + b.starts,
    faults: a.faults + b.faults,
    longestUnownedMs: Math.max(a.longestUnownedMs, b.longestUnownedMs),
    moved: a.moved + b.moved,
    leastMoves: a.leastMoves + b.leastMoves,
    failures: [...a.failures, ...b.failures],
  };
}
