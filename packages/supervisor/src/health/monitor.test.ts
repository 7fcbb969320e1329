import { VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { HealthEvent } from "../events.ts";
import { HealthMonitor } from "./monitor.ts";

/** A monitor whose checks have these results; "hang" ends only when its signal aborts. */
function newMonitor(answers: ("ok" | "fail" | "hang")[], options: { initialDelayMs?: number } = {}) {
  const clock = new VirtualClock();
  const checkedAtMs: number[] = [];
  const events: (HealthEvent | string)[] = [];
  const startedMs = clock.now().monoMs;
  let running = 0;
  const monitor = new HealthMonitor({
    clock,
    periodMs: 10_000,
    timeoutMs: 1_000,
    initialDelayMs: 0,
    threshold: 3,
    ...options,
    check: async (signal) => {
      running += 1;
      expect(running).toBe(1);
      checkedAtMs.push(clock.now().monoMs - startedMs);
      const answer = answers.shift() ?? "ok";
      if (answer === "hang") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      running -= 1;
      if (answer === "hang") throw signal.reason;
      if (answer === "fail") throw new Error("it says no");
    },
    onHealth: (event) => events.push(event),
    onUnhealthy: (message) => events.push(`unhealthy: ${message}`),
  });
  monitor.start();
  return { monitor, clock, checkedAtMs, events };
}

describe("HealthMonitor", () => {
  it("checks after the initial delay and then every period", async () => {
    const { clock, checkedAtMs } = newMonitor([], { initialDelayMs: 3_000 });
    await clock.pass(2_999);
    expect(checkedAtMs).toEqual([]);
    await clock.pass(25_000);
    expect(checkedAtMs).toEqual([3_000, 13_000, 23_000]);
  });

  it("reports only changes and failures", async () => {
    const { clock, events, monitor } = newMonitor(["ok", "ok", "fail", "ok", "ok"]);
    expect(monitor.healthy).toBeUndefined();
    await clock.pass(45_000);
    expect(events).toEqual([
      { healthy: true, failures: 0 },
      { healthy: true, failures: 1, message: "it says no" },
      { healthy: true, failures: 0 },
    ]);
    expect(monitor.healthy).toBe(true);
  });

  it("reports once that a child is unhealthy after three failures in a row, and stops", async () => {
    const { clock, events, checkedAtMs, monitor } = newMonitor([
      "fail",
      "fail",
      "ok",
      "fail",
      "fail",
      "fail",
      "fail",
    ]);
    await clock.pass(200_000);
    expect(events.filter((event) => typeof event === "string")).toEqual(["unhealthy: it says no"]);
    expect(checkedAtMs).toHaveLength(6);
    expect(monitor.healthy).toBe(false);
    expect(clock.armed).toBe(0);
  });

  it("counts a check that takes too long as a failure, and runs the next one on time", async () => {
    const { clock, events, checkedAtMs } = newMonitor(["hang", "ok"]);
    await clock.pass(999);
    expect(events).toEqual([]);
    await clock.pass(9_001);
    expect(events[0]).toEqual({ healthy: true, failures: 1, message: "no answer within 1000 ms" });
    expect(checkedAtMs).toEqual([0, 10_000]);
  });

  it("reports nothing after it was stopped, even if a check was running", async () => {
    const { clock, events, monitor } = newMonitor(["hang"]);
    await clock.pass(500);
    monitor.stop();
    await clock.pass(60_000);
    expect(events).toEqual([]);
    expect(clock.armed).toBe(0);
  });
});
