/** Makes a failing plan smaller: drops faults and processes as long as the same guarantee is still violated. */
import type { Plan } from "./plan.ts";
import { type Outcome, simulate } from "./simulation.ts";

export async function shrink(plan: Plan): Promise<{ plan: Plan; outcome: Outcome }> {
  let best = { plan, outcome: await simulate(plan) };
  const rule = best.outcome.violations[0]?.rule;
  const accept = async (smaller: Plan): Promise<boolean> => {
    const outcome = await simulate(smaller);
    if (outcome.violations[0]?.rule !== rule) return false;
    best = { plan: smaller, outcome };
    return true;
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (let index = best.plan.faults.length - 1; index >= 0; index--) {
      const faults = best.plan.faults.filter((_, other) => other !== index);
      if (await accept({ ...best.plan, faults })) changed = true;
    }
    const last = best.plan.processes.length - 1;
    const hasFault = best.plan.faults.some((fault) => fault.target === last);
    if (
      last > 0 &&
      !hasFault &&
      (await accept({ ...best.plan, processes: best.plan.processes.slice(0, last) }))
    ) {
      changed = true;
    }
  }
  const lastFault = best.plan.faults.at(-1);
  const calmAfterMs = (lastFault?.atMs ?? 0) + (lastFault?.forMs ?? 0) + 1;
  if (calmAfterMs < best.plan.calmAfterMs) await accept({ ...best.plan, calmAfterMs });
  return best;
}
