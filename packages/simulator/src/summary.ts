/** The results of many seeds. */
import { drawPlan, type Plan } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulation.ts";

interface Failure {
  readonly seed: number;
  readonly rule: string;
  readonly message: string;
  /** The shortest history that was found. */
  readonly history: readonly string[];
}

export interface Summary {
  readonly seeds: number;
  readonly simulatedMs: number;
  readonly terms: number;
  readonly clientGoTerms: number;
  readonly clientGoOverlaps: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly violations: number;
  readonly failures: readonly Failure[];
}

export const emptySummary: Summary = {
  seeds: 0,
  simulatedMs: 0,
  terms: 0,
  clientGoTerms: 0,
  clientGoOverlaps: 0,
  faults: {},
  violations: 0,
  failures: [],
};

/** How many failing seeds are shrunk and shown. */
const shownFailures = 3;

export function add(a: Summary, b: Summary): Summary {
  const faults: Record<string, number> = { ...a.faults };
  for (const [kind, count] of Object.entries(b.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  return {
    seeds: a.seeds + b.seeds,
    simulatedMs: a.simulatedMs + b.simulatedMs,
    terms: a.terms + b.terms,
    clientGoTerms: a.clientGoTerms + b.clientGoTerms,
    clientGoOverlaps: a.clientGoOverlaps + b.clientGoOverlaps,
    faults,
    violations: a.violations + b.violations,
    failures: [...a.failures, ...b.failures].sort((x, y) => x.seed - y.seed).slice(0, shownFailures),
  };
}

export async function simulateSeeds(from: number, count: number, wide = false): Promise<Summary> {
  let summary = emptySummary;
  for (let seed = from; seed < from + count; seed++) {
    const plan = drawPlan(seed, { wide });
    const outcome = await simulate(plan);
    const faults: Record<string, number> = {};
    for (const { kind } of plan.faults) faults[kind] = (faults[kind] ?? 0) + 1;
    const first = outcome.violations[0];
    const failures = first && summary.failures.length < shownFailures ? [await explain(plan)] : [];
    summary = add(summary, {
      seeds: 1,
      simulatedMs: outcome.simulatedMs,
      terms: outcome.terms.tenure,
      clientGoTerms: outcome.terms.clientGo,
      clientGoOverlaps: outcome.clientGoOverlaps,
      faults,
      violations: outcome.violations.length,
      failures,
    });
  }
  return summary;
}

async function explain(failing: Plan): Promise<Failure> {
  const { seed } = failing;
  const { plan, outcome } = await shrink(failing);
  const { rule = "", message = "" } = outcome.violations[0] ?? {};
  const members = plan.processes.map(({ kind, rate, timings }, index) => {
    const { leaseDuration, renewDeadline, retryPeriod } = timings;
    const speed = `a clock at ${(rate * 100).toFixed(2)} % speed`;
    return `p${index} is ${kind} with lease ${leaseDuration}, renew ${renewDeadline}, retry ${retryPeriod}, ${speed}`;
  });
  return { seed, rule, message, history: [...members, ...outcome.log] };
}
