/**
 * client-go compares records with their times truncated to seconds, so it does not see the second of two renewals in the same
 * second. A leader with a renewInterval of 1 s never writes two, whatever the network loses.
 */
import { type LeaderRecord, resolveTimings } from "@tenure/core";
import type { Fault } from "@tenure/testkit";
import fc from "fast-check";
import { expect, it } from "vitest";
import { config, newRig } from "./testing/candidates.ts";

const timings = resolveTimings({ leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "400ms" });
const faults: readonly (Fault | undefined)[] = [
  undefined,
  undefined,
  undefined,
  "hang",
  "lose-answer",
  { kind: "unreachable", message: "reset" },
];

async function renewalsIn(phases: readonly { faultIndex: number; forMs: number }[], watchDelayMs: number) {
  const { candidate, clock, lock, server } = newRig({ config: { ...config, timings } }, ({ type }, self) => {
    if (type === "term-lost") self.send({ type: "work-stopped", cooldownMs: 0 });
  });
  const written: LeaderRecord[] = [];
  const { put } = server;
  server.put = (record) => {
    written.push(record);
    return put.call(server, record);
  };
  server.watchDelayMs = watchDelayMs;
  candidate.send({ type: "start" });
  for (const { faultIndex, forMs } of phases) {
    const fault = faults[faultIndex];
    lock.fault = fault && (() => fault);
    await clock.pass(forMs);
  }
  candidate.send({ type: "stop" });
  return written;
}

it("never writes two renewals of a term in the same second, whatever is lost", async () => {
  const phase = fc.record({
    faultIndex: fc.nat(faults.length - 1),
    forMs: fc.integer({ min: 20, max: 1_500 }),
  });
  let renewals = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(phase, { minLength: 10, maxLength: 40 }),
      fc.constantFrom(0, 1, 60, 400),
      async (phases, watchDelayMs) => {
        const written = await renewalsIn(phases, watchDelayMs);
        const asClientGoSeesThem = written.map((record) =>
          JSON.stringify({ ...record, renewTime: second(record) }),
        );
        renewals += written.length;
        expect(new Set(asClientGoSeesThem).size).toBe(written.length);
      },
    ),
    { numRuns: 150 },
  );
  expect(renewals).toBeGreaterThan(500);
});

function second({ renewTime }: LeaderRecord): string | undefined {
  return renewTime?.slice(0, "2030-01-01T00:00:00".length);
}
