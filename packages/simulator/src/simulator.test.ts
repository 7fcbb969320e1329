import { describe, expect, it } from "vitest";
import { bugs } from "./bugs.ts";
import { drawPlan, faultKinds, type Plan } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { playSeeds } from "./summary.ts";
import { Witness } from "./witness.ts";
import { play } from "./world.ts";

describe("simulator", () => {
  it("finds no violation in the first seeds", async () => {
    const { violations, failures, terms } = await playSeeds(1, 200);
    expect(failures).toEqual([]);
    expect(violations).toBe(0);
    expect(terms).toBeGreaterThan(200);
  });

  it("plays the same history for the same seed", async () => {
    const first = await play(drawPlan(7));
    const second = await play(drawPlan(7));
    expect(second.log).toEqual(first.log);
    expect((await play(drawPlan(8))).log).not.toEqual(first.log);
  });

  it("draws every kind of fault", async () => {
    const drawn = new Set(
      Array.from({ length: 200 }, (_, seed) => drawPlan(seed).faults)
        .flat()
        .map(({ kind }) => kind),
    );
    expect([...drawn].sort()).toEqual([...faultKinds].sort());
  });

  it("leads all the time where nothing goes wrong", async () => {
    const plan: Plan = { ...drawPlan(1), faults: [] };
    const { violations, terms, log } = await play({
      ...plan,
      processes: plan.processes.filter(({ kind }) => kind === "tenure"),
    });
    expect(violations).toEqual([]);
    expect(terms.tenure).toBe(1);
    expect(log.filter((line) => line.includes("lock "))).toHaveLength(1);
  });

  it("keeps a plan that does not fail as it is", async () => {
    const plan = { ...drawPlan(3), faults: [] };
    expect((await shrink(plan)).outcome.violations).toEqual([]);
  });

  it("has at least the eight bugs that were asked for", () => {
    expect(Object.keys(bugs).length).toBeGreaterThanOrEqual(8);
  });
});

describe("witness", () => {
  const ours = (id: string) => ({ id, kind: "tenure" }) as const;
  const record = { leaseDurationSeconds: 15, acquireTime: "t", renewTime: "t", leaseTransitions: 0 };
  const lockOf = (writer: string, committedMs: number, holderIdentity = writer) => {
    const base = { uid: "1", version: "1", revision: 1n, annotations: 0, writer, committedMs };
    return { ...base, record: { ...record, holderIdentity, leaseDurationSeconds: holderIdentity ? 15 : 1 } };
  };
  const at = (times: { now: number }) => {
    const witness = new Witness(() => times.now, 15_000);
    for (const id of ["a", "b"]) witness.started(ours(id));
    return witness;
  };

  it("sees two that work at once", () => {
    const witness = at({ now: 0 });
    witness.workStarted(ours("a"));
    witness.workStarted(ours("b"));
    expect(witness.violations).toMatchObject([{ rule: "G1" }]);
  });

  it("sees one that works longer than its lease lasts", () => {
    const times = { now: 0 };
    const witness = at(times);
    witness.committed(undefined, lockOf("a", 0));
    witness.workStarted(ours("a"));
    times.now = 15_001;
    witness.workStopped(ours("a"));
    expect(witness.violations).toMatchObject([{ rule: "G1" }]);
  });

  it("sees a lock taken before its holder's time is over, and not one that was let go", () => {
    const times = { now: 10_000 };
    const early = at(times);
    early.committed(lockOf("a", 0), lockOf("b", 10_000));
    expect(early.violations).toMatchObject([{ rule: "G1" }]);
    const handedOver = at(times);
    handedOver.committed(lockOf("a", 9_990, ""), lockOf("b", 10_000));
    expect(handedOver.violations).toEqual([]);
  });

  it("sees a token that does not grow", () => {
    const witness = at({ now: 0 });
    witness.termStarted(ours("a"), 7n);
    witness.termStarted(ours("b"), 7n);
    expect(witness.violations).toMatchObject([{ rule: "G2" }]);
  });

  it("sees a release over another's record", () => {
    const witness = at({ now: 0 });
    witness.committed(lockOf("a", 0), lockOf("b", 0, ""));
    expect(witness.violations).toMatchObject([{ rule: "G3" }]);
  });

  it("sees that nobody leads although somebody could", () => {
    const witness = at({ now: 0 });
    witness.finished(false);
    expect(witness.violations).toMatchObject([{ rule: "G4" }]);
  });

  it("sees a lock that lies free in calm times", () => {
    const times = { now: 100_000 };
    const witness = new Witness(() => times.now, 15_000);
    times.now = 0;
    for (const id of ["a", "b"]) witness.started(ours(id));
    times.now = 101_000;
    witness.committed(lockOf("a", 100_000, ""), lockOf("b", 101_000));
    expect(witness.violations).toMatchObject([{ rule: "G4" }]);
  });
});
