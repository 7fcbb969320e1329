/** Prints simulated histories as the TLA+ module Histories, which spec/LeaseTrace.tla checks. `npm run spec` runs this. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { resolveTimings } from "@tenure/core";
import { copyPackages } from "../copy-packages.ts";
import { drawPlan } from "../plan.ts";
import { simulate } from "../simulation.ts";
import { Trace, type TraceStep, withoutUnspecified } from "./trace.ts";

const usage = `Usage: node dist/trace/main.js [--count N] [--from S] [--bug NAME]

Prints the histories of N seeds, from seed S, as a TLA+ module. With a bug, it is planted first.
`;

/** The clocks of the simulated machines run up to this much faster or slower than the true time. */
const clockRate = 0.005;
/** Times are rounded down to milliseconds: the start and the end of a duration. */
const roundingMs = 2;

/** The shortest true time that a candidate waits for a lease. A leader stops its work sooner than this. */
function specifiedLeaseMs(leaseMs: number): number {
  return Math.floor(leaseMs * (1 - clockRate)) - roundingMs;
}

function record(fields: Readonly<Record<string, string>>): string {
  const parts = Object.entries(fields).map(([name, value]) => `${name} |-> ${value}`);
  return `[${parts.join(", ")}]`;
}

function literal(value: string | number | boolean): string {
  return typeof value === "boolean" ? String(value).toUpperCase() : JSON.stringify(value);
}

function stepText(step: TraceStep): string {
  return record(Object.fromEntries(Object.entries(step).map(([name, value]) => [name, literal(value)])));
}

async function printHistories(from: number, count: number): Promise<void> {
  const traces: { readonly seed: number; readonly waits: boolean; readonly trace: Trace }[] = [];
  let longestMs = 0;
  for (let seed = from; traces.length < count; seed++) {
    const plan = withoutUnspecified(drawPlan(seed));
    const trace = new Trace();
    await simulate(plan, trace);
    const leases = plan.processes.map(({ timings }) => resolveTimings(timings).leaseDurationMs);
    longestMs = Math.max(longestMs, ...leases);
    if (trace.unspecified === undefined) traces.push({ seed, waits: plan.waitWhenAbsent, trace });
    else console.error(`seed ${seed} is left out: ${trace.unspecified}`);
  }
  const most = Math.max(...traces.map(({ trace }) => trace.leaseMs.size));
  const names = Array.from({ length: most }, (_, index) => `p${index + 1}`);
  const histories = traces.map(({ seed, waits, trace }) => {
    const leases = names.map((name) => [name, String(specifiedLeaseMs(trace.leaseMs.get(name) ?? 1_000))]);
    return record({
      seed: String(seed),
      waitWhenAbsent: literal(waits),
      lease: record(Object.fromEntries(leases)),
      steps: `<<\n${trace.steps.map(stepText).join(",\n")}>>`,
    });
  });
  console.log("---- MODULE Histories ----");
  console.log(`AllProcs == {${names.map(literal).join(", ")}}`);
  console.log(`LongestLease == ${specifiedLeaseMs(longestMs)}`);
  console.log(`Histories == <<\n${histories.join(",\n")}>>`);
  console.log("====");
}

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1" },
    from: { type: "string", default: "1" },
    bug: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(usage);
else if (values.bug === undefined) await printHistories(Number(values.from), Number(values.count));
else {
  const copy = copyPackages(`trace-${values.bug}-${process.pid}`, values.bug);
  const main = join(copy.folder, "simulator/dist/trace/main.js");
  const args = [main, "--count", values.count, "--from", values.from];
  try {
    process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
  } finally {
    copy.remove();
  }
}
