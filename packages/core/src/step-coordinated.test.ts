/** Coordinated elections: the API server names the leader in the lock, and the candidate acquires the lock only then. */
import { describe, expect, it } from "vitest";
import type { LockView } from "./record.ts";
import { held, released, view } from "./testing/records.ts";
import { ofType, TestCandidate, types } from "./testing/test-candidate.ts";

/** What the API server writes when it chooses a leader. */
function named(revision: number, identity = "a", transitions = 0): LockView {
  return view(revision, {
    holderIdentity: identity,
    leaseDurationSeconds: 5,
    acquireTime: undefined,
    renewTime: `named ${revision}`,
    leaseTransitions: transitions,
  });
}

function waitingFor(lock: LockView | undefined): TestCandidate {
  const candidate = new TestCandidate({ coordinated: true });
  candidate.start();
  candidate.watchUp();
  if (lock) candidate.found(lock);
  else candidate.absent();
  return candidate;
}

function leadingCandidate(): TestCandidate {
  const candidate = waitingFor(undefined);
  candidate.observed(named(1));
  pass(candidate, 10);
  candidate.ack(2);
  return candidate;
}

/** Time passes. A read is answered with the lock as it is known, and a write is not answered. */
function pass(candidate: TestCandidate, ms: number): void {
  candidate.run(ms, ({ type }) => {
    if (type !== "read") return undefined;
    const { lock } = candidate.state;
    return lock.kind === "present" ? { kind: "found", view: lock.view } : { kind: "absent" };
  });
}

describe("a candidate that is not named", () => {
  it("never takes the lock: not if it is absent, released, or expired", () => {
    for (const lock of [undefined, released(7), held(7, "b")]) {
      const candidate = waitingFor(lock);
      pass(candidate, 60_000);
      expect(ofType(candidate.effects, "write")).toEqual([]);
    }
  });

  it("does not accept a transfer, because the API server would overrule it", () => {
    const candidate = waitingFor(held(7, "b"));
    candidate.observed({ ...held(8, "b"), orders: { transfer: { transitions: 0, to: "a" } } });
    pass(candidate, 100);
    expect(ofType(candidate.effects, "accept")).toEqual([]);
  });
});

describe("a candidate that is named", () => {
  it("acquires the lock at once, and leads when its own write is confirmed, with the token of that write", () => {
    const candidate = waitingFor(undefined);
    candidate.observed(named(1));
    expect(candidate.leader).toBeUndefined();
    pass(candidate, 10);
    expect(candidate.lastWrite).toMatchObject({
      purpose: "acquire",
      over: { version: "1" },
      record: { holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 1 },
    });
    expect(candidate.mayWork).toBe(false);
    expect(ofType(candidate.ack(2), "term-started")).toEqual([{ type: "term-started", token: 2n }]);
    expect(candidate.mayWork).toBe(true);
  });

  it("counts its time from when it sent its own write, not from the name", () => {
    const candidate = waitingFor(undefined);
    candidate.observed(named(1));
    pass(candidate, 10);
    const sentMs = candidate.state.ownWrites.at(-1)?.sent.monoMs ?? 0;
    candidate.freeze(700);
    candidate.ack(2);
    candidate.freeze(sentMs + candidate.config.timings.hardDeadlineMs - candidate.monoMs - 1);
    expect(candidate.mayWork).toBe(true);
    candidate.freeze(1);
    expect(candidate.mayWork).toBe(false);
  });

  it("waits until the lease of the holder that it has seen has expired by its own clock, whatever the server thinks", () => {
    const candidate = waitingFor(held(7, "b"));
    pass(candidate, 4_000);
    candidate.observed(named(8));
    pass(candidate, 10_900);
    expect(ofType(candidate.effects, "write")).toEqual([]);
    candidate.observed(named(9));
    pass(candidate, 200);
    expect(candidate.lastWrite).toMatchObject({ purpose: "acquire", over: { version: "9" } });
  });

  it("waits for that holder also if another candidate was named in between", () => {
    const candidate = waitingFor(held(7, "b"));
    pass(candidate, 4_000);
    candidate.observed(named(8, "c"));
    pass(candidate, 6_000);
    candidate.observed(named(9));
    pass(candidate, 4_900);
    expect(ofType(candidate.effects, "write")).toEqual([]);
    pass(candidate, 200);
    expect(candidate.lastWrite).toMatchObject({ purpose: "acquire", over: { version: "9" } });
  });

  it("does not wait after a release", () => {
    const candidate = waitingFor(released(7));
    candidate.observed(named(8));
    pass(candidate, 10);
    expect(candidate.lastWrite.purpose).toBe("acquire");
  });

  it("waits a full lease if it was named before it saw the lock for the first time", () => {
    const candidate = waitingFor(named(8));
    pass(candidate, 14_000);
    expect(ofType(candidate.effects, "write")).toEqual([]);
    candidate.observed(named(9));
    pass(candidate, 1_100);
    expect(candidate.lastWrite.purpose).toBe("acquire");
  });

  it("waits a full lease if it was named between two runs", () => {
    const candidate = waitingFor(held(7, "b"));
    candidate.stop();
    candidate.freeze(60_000);
    candidate.start();
    candidate.watchUp();
    candidate.found(named(20));
    pass(candidate, 14_000);
    expect(ofType(candidate.effects, "write")).toEqual([]);
    pass(candidate, 1_100);
    expect(candidate.lastWrite.purpose).toBe("acquire");
  });

  it("does not take repeated names for another process with its identity", () => {
    const candidate = waitingFor(held(7, "b"));
    for (let revision = 8; revision < 14; revision += 1) candidate.observed(named(revision));
    expect(types(candidate.effects)).not.toContain("refused");
  });

  it("does not lead while an operator has paused the election", () => {
    const candidate = waitingFor(released(7));
    candidate.observed({ ...named(8), orders: { paused: true } });
    pass(candidate, 4_000);
    expect(ofType(candidate.effects, "write")).toEqual([]);
  });

  it("counts every term, so that an order for one term does not end the next", () => {
    const candidate = waitingFor(undefined);
    candidate.observed(named(1, "a", 6));
    pass(candidate, 10);
    expect(candidate.lastWrite.record.leaseTransitions).toBe(7);
  });
});

describe("a leader", () => {
  it("stops its work and then releases the lock if the API server prefers another candidate", () => {
    const candidate = leadingCandidate();
    const mine = candidate.lastWrite.record;
    const effects = candidate.observed({ ...view(3, mine), preferredHolder: "b" });
    expect(effects).toContainEqual({ type: "term-ending", reason: "step-down" });
    expect(candidate.mayWork).toBe(true);
    candidate.workStopped();
    expect(candidate.lastWrite).toMatchObject({ purpose: "release", record: { holderIdentity: "" } });
  });

  it("goes on if it is itself the preferred one", () => {
    const candidate = leadingCandidate();
    const mine = candidate.lastWrite.record;
    candidate.observed({ ...view(3, mine), preferredHolder: "a" });
    expect(candidate.phase).toBe("leading");
  });

  it("stops at once if the API server names another candidate, or names it again", () => {
    for (const identity of ["a", "b"]) {
      const candidate = leadingCandidate();
      expect(types(candidate.observed(named(3, identity)))).toContain("term-expired");
      expect(candidate.mayWork).toBe(false);
    }
  });
});

it("a candidate that is not coordinated waits for the holder in whose place the API server named another one", () => {
  const candidate = new TestCandidate();
  candidate.start();
  candidate.watchUp();
  candidate.found(held(7, "b"));
  pass(candidate, 4_000);
  candidate.observed(named(8, "c"));
  pass(candidate, 10_900);
  expect(ofType(candidate.effects, "write")).toEqual([]);
  pass(candidate, 200);
  expect(candidate.lastWrite).toMatchObject({ purpose: "acquire", over: { version: "8" } });
});

it("a preferred holder means nothing in an election that is not coordinated", () => {
  const candidate = new TestCandidate();
  candidate.start();
  candidate.absent();
  candidate.ack(1);
  candidate.observed({ ...view(2, candidate.lastWrite.record), preferredHolder: "b" });
  expect(candidate.phase).toBe("leading");
});
