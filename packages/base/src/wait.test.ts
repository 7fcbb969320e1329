import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";
import { after, first, sleep, within } from "./wait.ts";

const never = new Promise<never>(() => {});

describe("after", () => {
  it("calls back once after that time, unless it was cancelled", async () => {
    const clock = new VirtualClock();
    const calls: string[] = [];
    after(clock, 10, () => calls.push("a"));
    after(clock, 10, () => calls.push("b"))();
    await clock.pass(9);
    expect(calls).toEqual([]);
    await clock.pass(10);
    expect(calls).toEqual(["a"]);
  });
});

describe("first", () => {
  it("names what happened first and leaves no timer and no listener", async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const result = first(clock, { promise: Promise.resolve(), signal, late: 1_000, unused: undefined });
    expect(await result).toBe("promise");
    expect(clock.armed).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("sees a signal that has aborted already", async () => {
    expect(await first(new VirtualClock(), { promise: never, signal: AbortSignal.abort() })).toBe("signal");
  });

  it("rejects when a promise rejects first", async () => {
    const clock = new VirtualClock();
    await expect(first(clock, { promise: Promise.reject(new Error("x")), late: 5 })).rejects.toThrow("x");
    expect(clock.armed).toBe(0);
  });
});

describe("sleep", () => {
  it("ends early when the signal aborts", async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const sleeping = sleep(clock, 1_000, controller.signal);
    controller.abort();
    await sleeping;
    expect(clock.armed).toBe(0);
  });
});

describe("within", () => {
  it("tells whether the promise resolved in time", async () => {
    const clock = new VirtualClock();
    expect(await within(clock, 10, Promise.resolve())).toBe(true);
    const late = within(clock, 10, never);
    await clock.pass(10);
    expect(await late).toBe(false);
  });
});
