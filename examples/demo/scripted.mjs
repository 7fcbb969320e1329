// @ts-check
/** The demo without a terminal: injects every fault into the leader, one after the other, and prints what happens. */
import { faults } from "./faults.mjs";

/** How long a leader works before the next fault. */
const workMs = 2_000;

/**
 * @param {import("./system.mjs").System} system
 * @param {(line: string) => void} print
 */
export async function runScript(system, print) {
  if (!(await system.nextTerm(undefined))) return;
  print(`${system.leader?.name} leads with token ${system.token}`);
  for (const { describe, inject } of faults) {
    await system.pause(workMs);
    const { leader } = system;
    if (!leader || system.isEnding) return;
    print(`--- ${describe(leader.name)}`);
    await inject(system, leader);
    const handover = system.handovers.at(-1);
    if (!handover || system.isEnding) return;
    const { from, to, token, gapMs } = handover;
    print(
      `--- ${to} leads with token ${token}: ${Math.round(gapMs)} ms between the last order of ${from} and the first of ${to}`,
    );
  }
  await system.pause(workMs);
}
