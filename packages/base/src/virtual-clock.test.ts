import { expect, it } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";
import { sleep } from "./wait.ts";

it("fires timers in order, and lets promises continue in between", async () => {
  const clock = new VirtualClock();
  const log: string[] = [];
  const startMs = clock.now().monoMs;
  clock.at(startMs + 20, () => log.push("second"));
  clock.at(startMs + 10, () => {
    log.push("first");
    void sleep(clock, 5).then(() => log.push("between"));
  });
  expect(clock.dueInMs).toEqual([10, 20]);
  await clock.pass(30);
  expect(log).toEqual(["first", "between", "second"]);
  expect(clock.now().monoMs).toBe(startMs + 30);
});

it("moves both readings in a freeze, and only the wall clock in a suspension", () => {
  const clock = new VirtualClock();
  const before = clock.now();
  clock.freeze(100);
  clock.suspend(1_000);
  expect(clock.now()).toEqual({ monoMs: before.monoMs + 100, wallMs: before.wallMs + 1_100 });
});

it("rejects when a condition does not come true in time", async () => {
  await expect(new VirtualClock().until(() => false, 10)).rejects.toThrow("not true within 10 ms");
});
