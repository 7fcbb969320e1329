/**
 * Random histories of candidates of neighbouring stages, with the real core: no two may work at once. Each planted mistake
 * must be found, otherwise the histories prove nothing.
 */
import type { LockView } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MigrationWorld, realProtocol } from "../testing/migration-world.ts";
import type { Stage } from "../testing/rollout.ts";
import type { Protocol } from "../testing/world-candidate.ts";
import type { Side, Views } from "./migration-protocol.ts";

const seed = Number(process.env.TENURE_PROPERTY_SEED ?? 20_260_801);
const runs = Number(process.env.TENURE_PROPERTY_RUNS ?? 200);

/** Candidates that use only the old lock and candidates that use only the new one share nothing, so they never meet. */
const stages = fc.oneof(
  fc.array(fc.constantFrom<Stage>("old", "both"), { minLength: 2, maxLength: 3 }),
  fc.array(fc.constantFrom<Stage>("both", "new"), { minLength: 2, maxLength: 3 }),
);

interface Happening {
  readonly afterMs: number;
  readonly what:
    | "cut"
    | "cut-leader"
    | "join"
    | "freeze"
    | "crash"
    | "step-down"
    | "touch"
    | "delete"
    | "faults"
    | "calm";
  readonly who: number;
  readonly side: Side;
}

const happening = (what: readonly Happening["what"][]): fc.Arbitrary<Happening> =>
  fc.record({
    afterMs: fc.oneof(fc.nat(400), fc.nat(6_000), fc.constantFrom(10_000, 14_900, 15_000)),
    what: fc.constantFrom(...what),
    who: fc.nat(2),
    side: fc.constantFrom("from", "to"),
  });
const histories = (what: readonly Happening["what"][]) =>
  fc.array(happening(what), { minLength: 5, maxLength: 40, size: "max" });

const trouble = [
  "cut",
  "cut-leader",
  "join",
  "join",
  "freeze",
  "step-down",
  "touch",
  "faults",
  "calm",
] as const;

function play(world: MigrationWorld, happenings: readonly Happening[]): void {
  let restarts = 0;
  for (const { afterMs, what, who, side } of happenings) {
    world.pass(afterMs);
    const candidate = world.candidates.filter(({ isCrashed }) => !isCrashed)[who];
    switch (what) {
      case "cut":
      case "join":
        if (candidate) candidate.isCut = what === "cut";
        break;
      case "cut-leader":
        for (const leader of world.candidates) leader.isCut ||= leader.mayWork;
        break;
      case "freeze":
        candidate?.freeze(world.random() * 16_000);
        break;
      case "crash":
        if (!candidate) break;
        candidate.isCrashed = true;
        world.start(`${candidate.identity}-${++restarts}`, candidate.stage);
        break;
      case "step-down":
        candidate?.send({ type: "step-down", cooldownMs: 1_000 });
        break;
      case "touch":
        if (world.objects[side]) world.put(side);
        break;
      case "delete":
        world.delete(side);
        break;
      case "faults":
      case "calm":
        world.lossRate = what === "faults" ? 0.3 : 0;
        world.latencyMs = what === "faults" ? 3_000 : 50;
        break;
    }
  }
}

/** Ends all trouble, and lets a leader emerge. */
function recover(world: MigrationWorld): void {
  world.lossRate = 0;
  world.latencyMs = 50;
  for (const candidate of world.candidates) candidate.isCut = false;
  world.pass(120_000);
}

/** What the candidates find at the start, in the middle of a migration. */
const existing = fc.subarray<Side>(["from", "to"]);
const released = recordOf("", { leaseDurationSeconds: 1 });

type Property = (protocol: Protocol, onEnd?: (world: MigrationWorld) => void) => fc.IProperty<unknown>;

function newProperty(leases: fc.Arbitrary<number[]>, what: readonly Happening["what"][]): Property {
  return (protocol, onEnd) =>
    fc.property(
      fc.nat(),
      existing,
      stages,
      leases,
      histories(what),
      (random, sides, kinds, seconds, list) => {
        const world = new MigrationWorld(random, protocol);
        for (const side of sides) world.put(side, released);
        for (const [index, stage] of kinds.entries()) world.start(`c${index}`, stage, seconds[index]);
        play(world, list);
        if (onEnd) recover(world);
        if (world.violations[0]) throw new Error(world.violations[0]);
        onEnd?.(world);
      },
    );
}

const withDeletions = newProperty(fc.constant([15, 15, 15]), [...trouble, "delete", "delete"]);
/** After a deletion, nobody knows the lease of a holder that was never seen. So leases differ only without deletions. */
const withDifferentLeases = newProperty(
  fc.array(fc.constantFrom(6, 15, 39), { minLength: 3, maxLength: 3 }),
  [...trouble, "crash"],
);

describe("in any history", () => {
  it.each([
    ["deletions of either object", withDeletions],
    ["restarts and different leases", withDifferentLeases],
  ])(
    "with %s: never two leaders, growing tokens, and one leader in the end",
    (_what, property) => {
      let terms = 0;
      fc.assert(
        property(realProtocol, (world) => {
          terms += world.terms;
          expect(world.leaders).toHaveLength(1);
        }),
        { seed, numRuns: runs },
      );
      expect(terms).toBeGreaterThan(runs * 2);
    },
    60_000 + runs * 50,
  );
});

describe("a planted mistake is found", () => {
  const { observeViews, nextWriteStep } = realProtocol;

  it.each<[string, Property, Partial<Protocol>]>([
    [
      "a deletion looks like a release",
      withDeletions,
      {
        observeViews: (state, views, known) =>
          changeView(observeViews(state, views, known), (view) => ({ ...view, uid: "always the same" })),
      },
    ],
    [
      "an own record in one object counts as held",
      withDeletions,
      { observeViews: (state, views, known) => observeViews({ ...state, identities: [] }, views, known) },
    ],
    [
      "one confirmed object counts as both",
      withDeletions,
      {
        nextWriteStep: (record, answers) => {
          const step = nextWriteStep(record, answers);
          const { from } = answers;
          if (step.do === "complete" || from?.kind !== "found") return step;
          const views: Views = { from: from.view, to: { ...from.view, uid: "to" } };
          return { do: "complete", views };
        },
      },
    ],
    [
      "the record of to alone decides",
      withDifferentLeases,
      {
        observeViews: (state, views, known) =>
          changeView(observeViews(state, views, known), (view) => ({
            ...view,
            record: views.to?.record ?? view.record,
          })),
      },
    ],
  ])(
    "%s",
    (_what, property, mistake) => {
      const result = fc.check(property({ ...realProtocol, ...mistake }), {
        seed,
        numRuns: 2_000,
        endOnFailure: true,
      });
      expect(String(result.errorInstance)).toMatch(/ lead|token/);
    },
    60_000,
  );
});

function changeView(
  observed: ReturnType<Protocol["observeViews"]>,
  change: (view: LockView) => LockView,
): ReturnType<Protocol["observeViews"]> {
  const { answer } = observed;
  if (answer.kind !== "found") return observed;
  return { ...observed, answer: { kind: "found", view: change(answer.view) } };
}
