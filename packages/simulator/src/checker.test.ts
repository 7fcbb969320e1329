import { describe, expect, it } from "vitest";
import { Checker } from "./checker.ts";

describe("Checker", () => {
  const tenure = (id: string) => ({ id, kind: "tenure", leaseMs: 15_000 }) as const;
  const record = { leaseDurationSeconds: 15, acquireTime: "t", renewTime: "t", leaseTransitions: 0 };
  const lockOf = (writer: string, committedMs: number, holderIdentity = writer) => {
    const base = {
      uid: "1",
      version: "1",
      revision: 1n,
      writer,
      committedMs,
      object: { annotations: {} },
      isUnreadable: false,
      timeline: 0,
    };
    return { ...base, record: { ...record, holderIdentity, leaseDurationSeconds: holderIdentity ? 15 : 1 } };
  };
  const newChecker = (times: { now: number }) => {
    const checker = new Checker(() => times.now, 15_000);
    for (const id of ["a", "b", "b#1", "c#1"]) checker.started(tenure(id));
    const lock = checker.newLock();
    return Object.assign(checker, {
      committed: lock.committed.bind(lock),
      vanished: lock.vanished.bind(lock),
    });
  };

  it("reports two candidates that work at once", () => {
    const checker = newChecker({ now: 0 });
    checker.workStarted(tenure("a"));
    checker.workStarted(tenure("b"));
    expect(checker.violations).toMatchObject([{ rule: "G1" }]);
  });

  it("reports a candidate that works after its lease has expired", () => {
    const times = { now: 0 };
    const checker = newChecker(times);
    checker.committed(undefined, lockOf("a", 0));
    checker.workStarted(tenure("a"));
    times.now = 15_001;
    checker.workStopped(tenure("a"));
    expect(checker.violations).toMatchObject([{ rule: "G1" }]);
  });

  it("reports an acquisition before the lease of the holder expired, but not after a release", () => {
    const times = { now: 10_000 };
    const early = newChecker(times);
    early.committed(lockOf("a", 0), lockOf("b", 10_000));
    expect(early.violations).toMatchObject([{ rule: "G1" }]);
    const handedOver = newChecker(times);
    handedOver.committed(lockOf("a", 9_990, ""), lockOf("b", 10_000));
    expect(handedOver.violations).toEqual([]);
  });

  it("reports an early acquisition after a deletion, except by a candidate that cannot know the holder's lease", () => {
    const violationsIfSeen = (longestLeaseMs: number | undefined) => {
      const times = { now: 5_000 };
      const checker = newChecker(times);
      checker.vanished(lockOf("a", 0), () => longestLeaseMs ?? 0);
      times.now = 10_000;
      checker.committed(undefined, lockOf("b", 10_000));
      return checker.violations;
    };
    expect(violationsIfSeen(15_000)).toMatchObject([{ rule: "G1" }]);
    expect(violationsIfSeen(60_000)).toMatchObject([{ rule: "G1" }]);
    expect(violationsIfSeen(14_000)).toEqual([]);
    expect(violationsIfSeen(undefined)).toEqual([]);
  });

  it("holds each candidate to its own lease", () => {
    const times = { now: 0 };
    const checker = newChecker(times);
    const short = { ...tenure("a"), leaseMs: 4_000 };
    checker.committed(undefined, lockOf("a", 0));
    checker.workStarted(short);
    times.now = 4_001;
    checker.workStopped(short);
    expect(checker.violations).toMatchObject([{ rule: "G1" }]);
  });

  it("reports a token that does not increase", () => {
    const checker = newChecker({ now: 0 });
    checker.termStarted(tenure("a"), 7n);
    checker.termStarted(tenure("b"), 7n);
    expect(checker.violations).toMatchObject([{ rule: "G2" }]);
  });

  it("reports a release over another's record", () => {
    const checker = newChecker({ now: 0 });
    checker.committed(lockOf("a", 0), lockOf("b", 0, ""));
    expect(checker.violations).toMatchObject([{ rule: "G3" }]);
  });

  it("reports a write that drops what others wrote", () => {
    const checker = newChecker({ now: 0 });
    checker.committed({ ...lockOf("a", 0), object: { annotations: { theirs: "1" } } }, lockOf("a", 0));
    expect(checker.violations).toMatchObject([{ rule: "G3" }]);
  });

  it("reports an acquisition against the orders of an operator", () => {
    const violationsWith = (orders: object, writer: string, now: number) => {
      const checker = newChecker({ now });
      checker.committed({ ...lockOf("a", 0, ""), orders }, lockOf(writer, now));
      return checker.violations;
    };
    expect(violationsWith({ paused: true }, "b#1", 60_000)).toMatchObject([{ rule: "orders" }]);
    const transfer = { transfer: { transitions: 0, to: "c", accepted: true } };
    expect(violationsWith(transfer, "b#1", 10_000)).toMatchObject([{ rule: "orders" }]);
    expect(violationsWith(transfer, "b#1", 15_000)).toEqual([]);
    expect(violationsWith(transfer, "c#1", 10_000)).toEqual([]);
    const unanswered = { transfer: { transitions: 0, to: "c" } };
    expect(violationsWith(unanswered, "b#1", 10_000)).toEqual([]);
  });

  it("reports that nobody leads although a candidate is running", () => {
    const checker = newChecker({ now: 0 });
    checker.finished(false);
    expect(checker.violations).toMatchObject([{ rule: "G4" }]);
  });

  it.each([
    ["", undefined],
    [", even if a transfer to a name that nobody has stands", { transfer: { transitions: 0, to: "typo" } }],
  ])("reports a lock that stays free without faults%s", (_when, orders) => {
    const times = { now: 100_000 };
    const checker = new Checker(() => times.now, 15_000);
    times.now = 0;
    for (const id of ["a", "b"]) checker.started(tenure(id));
    times.now = 101_000;
    const lock = checker.newLock();
    lock.committed({ ...lockOf("a", 100_000, ""), ...(orders && { orders }) }, lockOf("b", 101_000));
    expect(checker.violations).toMatchObject([{ rule: "G4" }]);
    // In a migration, the other object may be held.
    checker.newLock();
    lock.committed(lockOf("a", 100_000, ""), lockOf("b", 101_000));
    expect(checker.violations).toHaveLength(1);
  });

  it("counts the right to work from the older of two objects", () => {
    const times = { now: 0 };
    const checker = newChecker(times);
    const other = checker.newLock();
    const both = { ...tenure("a"), objects: [0, 1] };
    checker.committed(undefined, lockOf("a", 0));
    other.committed(undefined, lockOf("a", 0));
    checker.workStarted(both);
    checker.committed(lockOf("a", 0), lockOf("a", 5_000));
    times.now = 15_001;
    checker.workStopped(both);
    expect(checker.violations).toMatchObject([{ rule: "G1", check: "work-after-lease" }]);
  });

  it("reports a candidate that works with one of two objects", () => {
    const checker = newChecker({ now: 0 });
    checker.newLock();
    const both = { ...tenure("a"), objects: [0, 1] };
    checker.committed(undefined, lockOf("a", 0));
    checker.workStarted(both);
    checker.workStopped(both);
    expect(checker.violations).toMatchObject([{ rule: "G1", check: "work-after-lease" }]);
  });
});
