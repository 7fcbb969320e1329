/** How a candidate handles a watch that is up, down or defective. */

import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Lock, LockObserver } from "./lock.ts";
import { newLeader, newRig, type Rig } from "./testing/candidates.ts";

/** A candidate whose lock `b` holds, with a watch that the test controls. */
function watching(
  watch?: Lock["watch"],
): Rig & { observer: LockObserver; readonly watchSignal: AbortSignal } {
  let observer: LockObserver | undefined;
  let signal: AbortSignal | undefined;
  const rig = newRig();
  rig.server.put(recordOf("b", { leaseDurationSeconds: 3_600 }));
  rig.lock.watch =
    watch ??
    ((given, until) => {
      observer = given;
      signal = until;
    });
  rig.candidate.send({ type: "start" });
  return {
    ...rig,
    get observer() {
      return observer as LockObserver;
    },
    get watchSignal() {
      return signal as AbortSignal;
    },
  };
}

const readsIn = async ({ lock, clock }: Rig, ms: number): Promise<number> => {
  const before = lock.requests.length;
  await clock.pass(ms);
  return lock.requests.length - before;
};

describe("a watch", () => {
  it("that is up replaces polling; polling resumes when it is down", async () => {
    const rig = watching();
    rig.observer.up();
    await rig.clock.pass(5);
    expect(await readsIn(rig, 60_000)).toBe(0);
    rig.observer.down(undefined);
    expect(await readsIn(rig, 60_000)).toBeGreaterThanOrEqual(29);
    rig.observer.up();
    await rig.clock.pass(5);
    expect(await readsIn(rig, 60_000)).toBe(0);
  });

  it("that the lock does not support is replaced by a read every retryPeriod", async () => {
    const { clock, lock, server, candidate } = newRig();
    lock.watch = undefined as unknown as typeof lock.watch;
    server.put(recordOf("b"));
    candidate.send({ type: "start" });
    await clock.pass(10_500);
    expect(lock.requests.map(({ kind }) => kind)).toEqual(Array(6).fill("read"));
  });

  it("that reports a release makes the candidate acquire within milliseconds", async () => {
    const rig = watching();
    rig.observer.up();
    await rig.clock.pass(500);
    rig.observer.observed(rig.server.put(recordOf("", { leaseDurationSeconds: 1 })));
    await rig.clock.pass(10);
    expect(rig.server.holder).toBe("a");
  });

  it("that reports a deletion ends the term at once", async () => {
    const { clock, server, newNotices } = await newLeader();
    newNotices();
    server.delete();
    await clock.pass(1);
    expect(newNotices()).toEqual(["term-lost", "term-expired", "leader-changed"]);
  });

  it("that reports another holder ends the term at once", async () => {
    const { clock, server, notices } = await newLeader();
    server.put(recordOf("b"));
    await clock.pass(1);
    expect(notices).toContainEqual({ type: "term-lost", reason: "taken-over" });
  });

  it("that reports an unspecified change makes the candidate read", async () => {
    const rig = watching();
    rig.observer.up();
    await rig.clock.pass(5);
    rig.server.put(recordOf("c", { leaseDurationSeconds: 3_600 }));
    expect(rig.candidate.leader()).toBe("b");
    const before = rig.lock.requests.length;
    rig.observer.changed();
    await rig.clock.pass(5);
    expect(rig.lock.requests.length - before).toBe(1);
    expect(rig.candidate.leader()).toBe("c");
  });

  it("that goes down is reported only if there is a failure", async () => {
    const rig = watching();
    await rig.clock.pass(5);
    rig.newNotices();
    rig.observer.down(undefined);
    expect(rig.newNotices()).toEqual([]);
    rig.observer.down({ kind: "denied", message: "may not watch" });
    expect(rig.notices.at(-1)).toEqual({
      type: "watch-failed",
      failure: { kind: "denied", message: "may not watch" },
    });
  });

  it("that throws is reported, and the lock is polled", async () => {
    const rig = watching(() => {
      throw new Error("this lock cannot watch");
    });
    expect(rig.notices).toEqual([
      { type: "watch-failed", failure: { kind: "server", message: "this lock cannot watch" } },
    ]);
    expect(await readsIn(rig, 60_000)).toBeGreaterThanOrEqual(29);
  });

  it("is started once, even if the candidate is started twice", async () => {
    const { clock, candidate, server } = await newLeader();
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(server.watchers).toBe(1);
  });

  it("ends with the run, and its later calls are ignored", async () => {
    const rig = watching();
    rig.observer.up();
    await rig.clock.pass(5);
    rig.candidate.send({ type: "stop" });
    expect(rig.watchSignal.aborted).toBe(true);
    const before = rig.candidate.state;
    rig.newNotices();
    rig.observer.observed(rig.server.put(recordOf("c")));
    rig.observer.deleted(99n);
    rig.observer.changed();
    rig.observer.down({ kind: "server", message: "late" });
    rig.observer.up();
    expect(rig.candidate.state).toBe(before);
    expect(rig.newNotices()).toEqual([]);
  });

  it("ends when the candidate is refused", async () => {
    const { clock, server, candidate, newNotices } = newRig();
    candidate.send({ type: "start" });
    server.put(recordOf("a", { renewTime: "1" }));
    await clock.pass(5);
    server.put(recordOf("a", { renewTime: "2" }));
    await clock.pass(5);
    server.put(recordOf("a", { renewTime: "3" }));
    await clock.pass(5);
    expect(newNotices()).toContain("refused");
    expect([server.watchers, clock.armed]).toEqual([0, 0]);
  });

  it("that is faster than the answer to the write starts the term only once", async () => {
    const rig = newRig();
    rig.server.watchDelayMs = 0;
    rig.candidate.send({ type: "start" });
    await rig.clock.pass(10_000);
    expect(rig.newNotices().filter((type) => type === "term-started")).toHaveLength(1);
    expect(rig.server.log).toEqual(["won by a", ...Array(3).fill("renewed by a")]);
  });
});
