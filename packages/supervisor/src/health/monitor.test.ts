import { describe, expect, it } from "vitest";
import type { HealthEvent } from "../events.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { HealthMonitor } from "./monitor.ts";

/** A monitor whose answers are taken from a list; "hang" answers only to its signal. */
function newMonitor(answers: ("ok" | "fail" | "hang")[], options: { initialDelayMs?: number } = {}) {
  const clock = new VirtualClock();
  const askedAtMs: number[] = [];
  const told: (HealthEvent | string)[] = [];
  const startedMs = clock.now().monoMs;
  let running = 0;
  const monitor = new HealthMonitor({
    clock,
    periodMs: 10_000,
    timeoutMs: 1_000,
    initialDelayMs: 0,
    threshold: 3,
    ...options,
    ask: async (signal) => {
      running += 1;
      expect(running).toBe(1);
      askedAtMs.push(clock.now().monoMs - startedMs);
      const answer = answers.shift() ?? "ok";
      if (answer === "hang") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      running -= 1;
      if (answer === "hang") throw signal.reason;
      if (answer === "fail") throw new Error("it says no");
    },
    onHealth: (event) => told.push(event),
    onUnhealthy: (message) => told.push(`unhealthy: ${message}`),
  });
  monitor.start();
  return { monitor, clock, askedAtMs, told };
}

describe("HealthMonitor", () => {
  it("asks after the delay and then every period", async () => {
    const { clock, askedAtMs } = newMonitor([], { initialDelayMs: 3_000 });
    await clock.pass(2_999);
    expect(askedAtMs).toEqual([]);
    await clock.pass(25_000);
    expect(askedAtMs).toEqual([3_000, 13_000, 23_000]);
  });

  it("tells of changes only", async () => {
    const { clock, told, monitor } = newMonitor(["ok", "ok", "fail", "ok", "ok"]);
    expect(monitor.healthy).toBeUndefined();
    await clock.pass(45_000);
    expect(told).toEqual([
      { healthy: true, failures: 0 },
      { healthy: true, failures: 1, message: "it says no" },
      { healthy: true, failures: 0 },
    ]);
    expect(monitor.healthy).toBe(true);
  });

  it("calls a child unhealthy after three failures in a row, once, and asks no more", async () => {
    const { clock, told, askedAtMs, monitor } = newMonitor([
      "fail",
      "fail",
      "ok",
      "fail",
      "fail",
      "fail",
      "fail",
    ]);
    await clock.pass(200_000);
    expect(told.filter((event) => typeof event === "string")).toEqual(["unhealthy: it says no"]);
    expect(askedAtMs).toHaveLength(6);
    expect(monitor.healthy).toBe(false);
    expect(clock.armed).toBe(0);
  });

  it("counts a check that takes too long as failed, and is on time with the next", async () => {
    const { clock, told, askedAtMs } = newMonitor(["hang", "ok"]);
    await clock.pass(999);
    expect(told).toEqual([]);
    await clock.pass(9_001);
    expect(told[0]).toEqual({ healthy: true, failures: 1, message: "no answer within 1000 ms" });
    expect(askedAtMs).toEqual([0, 10_000]);
  });

  it("tells nothing after it was stopped, also not of the question under way", async () => {
    const { clock, told, monitor } = newMonitor(["hang"]);
    await clock.pass(500);
    monitor.stop();
    await clock.pass(60_000);
    expect(told).toEqual([]);
    expect(clock.armed).toBe(0);
  });
});
