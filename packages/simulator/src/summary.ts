/** The results of many seeds. */
import { drawPlan, type Plan, type Width } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { type Outcome, simulate } from "./simulation.ts";

interface Failure {
  readonly seed: number;
  readonly rule: string;
  readonly message: string;
  /** The shortest history that was found. */
  readonly history: readonly string[];
}

export interface Summary {
  readonly seeds: number;
  /** How many of them ran everything that ships. */
  readonly wideSeeds: number;
  readonly simulatedMs: number;
  readonly terms: number;
  readonly clientGoTerms: number;
  readonly clientGoOverlaps: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly violations: number;
  readonly violatingSeeds: readonly number[];
  /** The checks that were the only ones to report anything in a history. */
  readonly soleChecks: readonly string[];
  readonly failures: readonly Failure[];
}

export const emptySummary: Summary = {
  seeds: 0,
  wideSeeds: 0,
  simulatedMs: 0,
  terms: 0,
  clientGoTerms: 0,
  clientGoOverlaps: 0,
  faults: {},
  violations: 0,
  violatingSeeds: [],
  soleChecks: [],
  failures: [],
};

/** How many failing seeds are shrunk and shown. */
const shownFailures = 3;

export function add(a: Summary, b: Summary): Summary {
  const faults: Record<string, number> = { ...a.faults };
  for (const [kind, count] of Object.entries(b.faults)) faults[kind] = (faults[kind] ?? 0) + count;
  return {
    seeds: a.seeds + b.seeds,
    wideSeeds: a.wideSeeds + b.wideSeeds,
    simulatedMs: a.simulatedMs + b.simulatedMs,
    terms: a.terms + b.terms,
    clientGoTerms: a.clientGoTerms + b.clientGoTerms,
    clientGoOverlaps: a.clientGoOverlaps + b.clientGoOverlaps,
    faults,
    violations: a.violations + b.violations,
    violatingSeeds: [...a.violatingSeeds, ...b.violatingSeeds].sort((x, y) => x - y),
    soleChecks: [...new Set([...a.soleChecks, ...b.soleChecks])],
    failures: [...a.failures, ...b.failures].sort((x, y) => x.seed - y.seed).slice(0, shownFailures),
  };
}

interface SimulateOptions {
  readonly width?: Width;
  /** Shrink failing histories, which takes time. @default true */
  readonly shrinks?: boolean;
}

export async function simulateSeeds(
  from: number,
  count: number,
  { width = "narrow", shrinks = true }: SimulateOptions = {},
): Promise<Summary> {
  let summary = emptySummary;
  for (let seed = from; seed < from + count; seed++) {
    const plan = drawPlan(seed, width);
    const outcome = await simulate(plan);
    const faults: Record<string, number> = {};
    for (const { kind } of plan.faults) faults[kind] = (faults[kind] ?? 0) + 1;
    const reported = new Set(outcome.violations.map(({ check }) => check));
    const isShown = reported.size > 0 && summary.failures.length < shownFailures;
    const failures = isShown ? [explain(plan, shrinks ? await shrink(plan) : { plan, outcome })] : [];
    summary = add(summary, {
      seeds: 1,
      wideSeeds: plan.lock ? 1 : 0,
      simulatedMs: outcome.simulatedMs,
      terms: outcome.terms.tenure,
      clientGoTerms: outcome.terms.clientGo,
      clientGoOverlaps: outcome.clientGoOverlaps,
      faults,
      violations: outcome.violations.length,
      violatingSeeds: reported.size > 0 ? [seed] : [],
      soleChecks: reported.size === 1 ? [...reported] : [],
      failures,
    });
  }
  return summary;
}

function explain({ seed }: Plan, { plan, outcome }: { plan: Plan; outcome: Outcome }): Failure {
  const { rule = "", message = "" } = outcome.violations[0] ?? {};
  const members = plan.processes.map(({ kind, rate, timings }, index) => {
    const { leaseDuration, renewDeadline, retryPeriod } = timings;
    const speed = `a clock at ${(rate * 100).toFixed(2)} % speed`;
    return `p${index} is ${kind} with lease ${leaseDuration}, renew ${renewDeadline}, retry ${retryPeriod}, ${speed}`;
  });
  return { seed, rule, message, history: [...members, ...outcome.log] };
}
