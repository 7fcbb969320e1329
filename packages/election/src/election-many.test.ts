import { getEventListeners } from "node:events";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica } from "@tenure/testkit";
import { afterEach, describe, expect, it } from "vitest";

const warnings: Error[] = [];
const onWarning = (warning: Error) => void warnings.push(warning);
process.on("warning", onWarning);
afterEach(() => void warnings.splice(0));

describe("one signal for many elections", () => {
  it("ends them all without a warning from Node", async () => {
    const clock = new VirtualClock();
    const replicas = Array.from({ length: 50 }, (_, index) =>
      newReplica({ identity: `m${index}`, server: new MemoryServer(clock) }),
    );
    const controller = new AbortController();
    for (const replica of replicas) replica.run(undefined, { signal: controller.signal });
    await clock.pass(100);
    expect(replicas.every(({ terms }) => terms.length === 1)).toBe(true);
    controller.abort();
    await clock.pass(100);
    expect(replicas.every(({ isDone }) => isDone)).toBe(true);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    await settle();
    expect(warnings).toEqual([]);
  });
});

describe("many elections of one process", () => {
  it("send their renewals together, each at least every renewInterval", async () => {
    const clock = new VirtualClock();
    const sentMs: number[][] = [];
    for (let index = 0; index < 50; index++) {
      const server = new MemoryServer(clock);
      const times: number[] = [];
      const { put } = server;
      server.put = (record) => {
        times.push(clock.now().monoMs);
        return put.call(server, record);
      };
      sentMs.push(times);
      newReplica({ identity: "a", server }).run();
      await clock.pass(37);
    }
    await clock.pass(60_000);
    const later = sentMs.map((times) => times.filter((ms) => ms >= 10_000));
    const wakeUps = new Set(later.flat().map((ms) => Math.round(ms)));
    // 50 elections that renew 20 times each would wake the process 1,000 times. They started within 1.85 s: 7 groups, or 8.
    expect(later.flat().length).toBeGreaterThanOrEqual(50 * 16);
    expect(wakeUps.size).toBeLessThanOrEqual(8 * 21);
    for (const times of later) {
      for (const [index, ms] of times.slice(1).entries()) {
        expect(ms - (times[index] ?? 0)).toBeLessThanOrEqual(3_000 + 1);
        expect(ms - (times[index] ?? 0)).toBeGreaterThanOrEqual(2_700);
      }
    }
  });
});
