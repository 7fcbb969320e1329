import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { ErrorThrottle } from "./error-throttle.ts";

it("logs an error that repeats every second less and less often, and counts the rest", async () => {
  const clock = new VirtualClock();
  const throttle = new ErrorThrottle(clock);
  const logged: [second: number, omitted: number][] = [];
  for (let second = 0; second < 40; second++) {
    // Durations in the message do not make it another one.
    const omitted = throttle.next(`no answer within ${1_000 + second} ms`);
    if (omitted !== undefined) logged.push([second, omitted]);
    await clock.pass(1_000);
  }
  expect(logged).toEqual([
    [0, 0],
    [2, 1],
    [6, 3],
    [14, 7],
    [30, 15],
  ]);
});

it("logs another error at once, and the same one again after a minute without it", async () => {
  const clock = new VirtualClock();
  const throttle = new ErrorThrottle(clock);
  expect([throttle.next("a"), throttle.next("b"), throttle.next("a")]).toEqual([0, 0, undefined]);
  await clock.pass(70_000);
  expect(throttle.next("a")).toBe(1);
  await clock.pass(2_000);
  expect(throttle.next("a")).toBe(0);
});

it("does not grow without end", () => {
  const throttle = new ErrorThrottle(new VirtualClock());
  for (let i = 0; i < 1_000; i++) throttle.next(`error ${"x".repeat(i)}`);
  expect(throttle.next("error ")).toBe(0);
});
