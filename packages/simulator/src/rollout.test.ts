import { expect, it } from "vitest";
import { Rollout, type Stage } from "./rollout.ts";
import { Scheduler } from "./scheduler.ts";

/** Replicas that stop a second after they are told to. */
function setUp(rolloutsMs: readonly number[]) {
  const scheduler = new Scheduler();
  const log: string[] = [];
  const dead = new Set<number>();
  const others: Stage[] = [];
  const rollout: Rollout = new Rollout(
    { firstStage: 0, rolloutsMs, paceMs: 700 },
    {
      scheduler,
      slotCount: 2,
      livingStages: () => others,
      isDead: (slot) => dead.has(slot),
      shutdown: (slot) => {
        log.push(`${slot} stops`);
        scheduler.after(1_000, () => dead.add(slot));
      },
      restart: (slot) => {
        dead.delete(slot);
        log.push(`${slot} starts in stage ${rollout.stageOf(slot)}`);
      },
    },
  );
  return { scheduler, rollout, log, others, run: (endMs: number) => scheduler.run(endMs, async () => {}) };
}

const toBoth = ["0 stops", "0 starts in stage 1", "1 stops", "1 starts in stage 1"];
const toNew = ["0 stops", "0 starts in stage 2", "1 stops", "1 starts in stage 2"];

it("replaces one replica after the other, and ends one rolling update before the next", async () => {
  const { log, run } = setUp([1_000, 1_001]);
  await run(60_000);
  expect(log).toEqual([...toBoth, ...toNew]);
});

it("does not begin the last stage while a process of the first one lives", async () => {
  const { log, run, others } = setUp([1_000, 1_001]);
  others.push(0);
  await run(60_000);
  expect(log).toEqual(toBoth);
  others.pop();
  await run(120_000);
  expect(log).toEqual([...toBoth, ...toNew]);
});

it("replaces what is stopping when it is told to end, and stops no other replica", async () => {
  const { log, run, rollout } = setUp([1_000]);
  await run(1_500);
  rollout.end();
  await run(60_000);
  expect(log).toEqual(["0 stops", "0 starts in stage 1"]);
});
