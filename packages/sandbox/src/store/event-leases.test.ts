import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { EventLeases, isEventKey } from "./event-leases.ts";

function setUp() {
  const clock = new VirtualClock();
  const granted: number[] = [];
  const leases = new EventLeases(clock, async (seconds) => {
    granted.push(seconds);
    if (granted.length === 1) throw new Error("no leader");
    return BigInt(granted.length);
  });
  return { clock, granted, leases };
}

it("shares a lease for a minute, and asks again after a failure", async () => {
  const { clock, granted, leases } = setUp();
  await expect(leases.current()).rejects.toThrow("no leader");
  expect(await Promise.all([leases.current(), leases.current()])).toEqual([2n, 2n]);
  await clock.pass(59_000);
  expect(await leases.current()).toBe(2n);
  await clock.pass(1_000);
  expect(await leases.current()).toBe(3n);
  // An event that gets the lease at its last moment still lives for an hour.
  expect(granted).toEqual([3_660, 3_660, 3_660]);
});

it("knows events by their key", () => {
  expect(isEventKey("/registry/events/default/a")).toBe(true);
  expect(isEventKey("/registry/configmaps/default/events")).toBe(false);
});
