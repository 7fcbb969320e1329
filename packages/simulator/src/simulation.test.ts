import { describe, expect, it } from "vitest";
import { bugs } from "./bugs.ts";
import { loadModules } from "./load-modules.ts";
import { drawPlan, faultKinds, type Plan } from "./plan.ts";
import { shrink } from "./shrink.ts";
import { simulate } from "./simulation.ts";
import { storeKinds } from "./stores/store-kinds.ts";
import { simulateSeeds } from "./summary.ts";

/** A busy machine may take its time. */
const slowMs = 120_000;

describe("simulate", () => {
  it(
    "finds no violation in the first seeds",
    async () => {
      const { violations, failures, terms } = await simulateSeeds(1, 200);
      expect(failures).toEqual([]);
      expect(violations).toBe(0);
      expect(terms).toBeGreaterThan(200);
    },
    slowMs,
  );

  it("gives the same history for the same seed", async () => {
    const first = await simulate(drawPlan(7));
    const second = await simulate(drawPlan(7));
    expect(second.log).toEqual(first.log);
    expect((await simulate(drawPlan(8))).log).not.toEqual(first.log);
  });

  it("injects every kind of fault", async () => {
    const drawn = new Set(
      Array.from({ length: 200 }, (_, seed) => drawPlan(seed).faults)
        .flat()
        .map(({ kind }) => kind),
    );
    expect([...drawn].sort()).toEqual([...faultKinds].sort());
  });

  it("has a single term if there are no faults", async () => {
    const plan: Plan = { ...drawPlan(1), faults: [] };
    const { violations, terms, log } = await simulate({
      ...plan,
      processes: plan.processes.filter(({ kind }) => kind === "tenure"),
    });
    expect(violations).toEqual([]);
    expect(terms.tenure).toBe(1);
    expect(log.filter((line) => line.includes("lock "))).toHaveLength(1);
  });

  it("finds no violation in a plan without faults when shrinking it", async () => {
    const plan = { ...drawPlan(3), faults: [] };
    expect((await shrink(plan)).outcome.violations).toEqual([]);
  });

  it(
    "finds no violation in everything that ships",
    async () => {
      await loadModules();
      const { violations, failures, terms } = await simulateSeeds(1, 8, { width: "wide" });
      expect(failures).toEqual([]);
      expect(violations).toBe(0);
      expect(terms).toBeGreaterThan(8);
      const [first, second] = [await simulate(drawPlan(7, "wide")), await simulate(drawPlan(7, "wide"))];
      expect(second.log).toEqual(first.log);
    },
    slowMs,
  );

  it(
    "leads through both rolling updates of a migration",
    async () => {
      await loadModules();
      const plan = drawPlan(1, "wide");
      const migration = { firstStage: 0, rolloutsMs: [20_000, 60_000], paceMs: 700 } as const;
      const { violations, log } = await simulate({
        ...plan,
        faults: [],
        calmAfterMs: 200_000,
        lock: { kind: "ConfigMap", migration },
        processes: plan.processes.map((process) => ({ ...process, kind: "tenure" })),
      });
      expect(violations).toEqual([]);
      const stages = ["the old lock", "both locks", "the new lock"];
      const starts = stages.map(
        (stage) => log.filter((line) => line.includes(`starts with ${stage}`)).length,
      );
      for (const count of starts) expect(count).toBeGreaterThanOrEqual(plan.processes.length);
      const lastHolder = log.findLast((line) => line.includes("held by p"));
      const lastStarts = log
        .filter((line) => line.includes("with the new lock"))
        .map((line) => line.split(" ").at(-6));
      expect(lastStarts).toContain(lastHolder?.split("written by ")[1]);
    },
    slowMs,
  );

  it.each(storeKinds)("hands over on %s", async (kind) => {
    const plan = drawPlan(1, "stores");
    const stepDown = { kind: "step-down", atMs: 60_000, forMs: 1, target: 0, amount: 0 } as const;
    const { violations, terms, log } = await simulate({
      ...plan,
      lock: { kind },
      waitWhenAbsent: false,
      // The first process leads, because it starts first.
      processes: plan.processes.map((process, index) => ({ ...process, startMs: index * 10_000 })),
      faults: [stepDown],
      calmAfterMs: 100_000,
    });
    expect(violations).toEqual([]);
    expect(terms.tenure).toBe(2);
    expect(log.filter((line) => line.includes("held by p"))).toHaveLength(2);
  });

  it(
    "finds no violation on the stores, and gives the same history for the same seed",
    async () => {
      const { violations, failures, terms } = await simulateSeeds(1, 12, { width: "stores" });
      expect(failures).toEqual([]);
      expect(violations).toBe(0);
      expect(terms).toBeGreaterThan(12);
      for (const seed of [3, 4]) {
        const [first, second] = [
          await simulate(drawPlan(seed, "stores")),
          await simulate(drawPlan(seed, "stores")),
        ];
        expect(second.log).toEqual(first.log);
      }
    },
    slowMs,
  );

  it("has bugs to plant inside and outside of core", () => {
    expect(Object.keys(bugs).length).toBeGreaterThanOrEqual(44);
    expect(Object.values(bugs).filter(({ width }) => width).length).toBeGreaterThanOrEqual(23);
  });
});
