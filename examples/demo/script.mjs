// @ts-check
/** The demo without a terminal: does to the leader all that can be done to it, one after the other, and says what came of it. */
import { blows } from "./blows.mjs";

/** How long a leader works before it is struck. */
const calmMs = 2_000;

/**
 * @param {import("./system.mjs").System} system
 * @param {(line: string) => void} say
 */
export async function script(system, say) {
  if (!(await system.nextTerm(undefined))) return;
  say(`${system.leader?.name} leads with token ${system.token}`);
  for (const { does, strike } of blows) {
    await system.pause(calmMs);
    const { leader } = system;
    if (!leader || system.isEnding) return;
    say(`--- ${does} ${leader.name}`);
    await strike(system, leader);
    const handover = system.handovers.at(-1);
    if (!handover || system.isEnding) return;
    const ms = Math.round(handover.gapMs);
    say(`--- ${handover.to} leads with token ${handover.token}: ${ms} ms from order to order`);
  }
  await system.pause(calmMs);
}
