import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { limitWait } from "./wait-limit.ts";

function waiting(limitMs: number | undefined) {
  const clock = new VirtualClock();
  const shutdown = new AbortController();
  let enter = (_phase: string) => {};
  const supervisor = {
    on: (_name: string, listener: (event: { phase: string }) => void) => {
      enter = (phase) => listener({ phase });
      return () => {};
    },
  };
  const limit = limitWait(supervisor as never, limitMs, shutdown.signal, clock);
  return { clock, shutdown, limit, enter: (phase: string) => enter(phase) };
}

it("ends the run when the time is up", async () => {
  const { clock, limit } = waiting(30_000);
  await clock.pass(29_999);
  expect([limit.signal.aborted, limit.isOver()]).toEqual([false, false]);
  await clock.pass(1);
  expect([limit.signal.aborted, limit.isOver()]).toEqual([true, true]);
});

it("does not end the run of a replica that became the leader", async () => {
  const { clock, limit, enter } = waiting(30_000);
  enter("pre-leader");
  await clock.pass(60_000);
  expect([limit.signal.aborted, limit.isOver(), clock.armed]).toEqual([false, false, 0]);
});

it.each([30_000, undefined])("ends the run at a signal, with the limit %s", (limitMs) => {
  const { clock, shutdown, limit } = waiting(limitMs);
  shutdown.abort();
  expect([limit.signal.aborted, limit.isOver(), clock.armed]).toEqual([true, false, 0]);
});

it("disarms its timer", () => {
  const { clock, limit } = waiting(30_000);
  limit.dispose();
  expect(clock.armed).toBe(0);
});
