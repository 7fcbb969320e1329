/** Arbitrary histories of one candidate, judged by a slow and obvious model. A failure prints its seed and shrinks. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { released } from "./testing/records.ts";
import { config, failure, Rig, verbs } from "./testing/rig.ts";
import { type Action, action, World } from "./testing/world.ts";
import { resolveTimings } from "./timings.ts";
import type { Answer, Config } from "./types.ts";

const seed = Number(process.env.TENURE_PROPERTY_SEED ?? 20_260_801);
const runs = Number(process.env.TENURE_PROPERTY_RUNS ?? 1_500);

const configs: fc.Arbitrary<Config> = fc.record({
  identity: fc.constant("a"),
  timings: fc.constantFrom(config.timings, resolveTimings({ preset: "fast-failover" })),
  waitWhenAbsent: fc.boolean(),
  failWhenDenied: fc.boolean(),
  cooldownMs: fc.constant(2_000),
});
const start: Action = { do: "start" };
const history = fc.array(action, { minLength: 10, maxLength: 120, size: "max" });

describe("whatever happens", () => {
  it("the machine never does what the model forbids", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(configs, fc.nat(), history, (given, randomness, actions) => {
        const world = new World(given, randomness);
        world.play([start, ...actions]);
        for (const { type } of world.rig.effects) seen.set(type, (seen.get(type) ?? 0) + 1);
        expect(world.wrong).toEqual([]);
      }),
      { seed, numRuns: runs },
    );
    // A generator that never gets anywhere would prove nothing.
    for (const type of [
      "term-started",
      "renewed",
      "term-ending",
      "term-lost",
      "term-expired",
      "overrun",
      "term-ended",
      "refused",
      "stopped",
    ]) {
      expect([type, (seen.get(type) ?? 0) > 20]).toEqual([type, true]);
    }
  });

  it("a candidate leads in the end, when the others are gone and the API server is there", () => {
    fc.assert(
      fc.property(configs, fc.nat(), history, fc.boolean(), (given, randomness, actions, isWatching) => {
        const { rig, server } = playedOut(given, randomness, actions);
        server.annotate({});
        if (isWatching) rig.watchUp();
        for (let turns = 0; turns < 8; turns++) {
          rig.start();
          rig.run(15_000, server.answer);
          if (rig.phase === "lost" || rig.phase === "draining") rig.workStopped();
        }
        expect({ phase: rig.phase, mayWork: rig.mayWork }).toEqual({ phase: "leading", mayWork: true });
      }),
      { seed, numRuns: runs / 3 },
    );
  });

  it("a stop is answered once the work has stopped, whether or not the API server is there", () => {
    fc.assert(
      fc.property(configs, fc.nat(), history, fc.boolean(), (given, randomness, actions, isReachable) => {
        const { rig, server } = playedOut(given, randomness, actions);
        rig.stop();
        rig.workStopped();
        rig.run(20_000, isReachable ? server.answer : () => undefined);
        expect(rig.phase).toBe("idle");
        expect(rig.effects.findLast(({ type }) => type === "stopped" || type === "term-started")?.type).toBe(
          "stopped",
        );
        expect(rig.nextWakeMs).toBe(Number.POSITIVE_INFINITY);
      }),
      { seed, numRuns: runs / 3 },
    );
  });
});

describe("whatever the API server answers, over and over", () => {
  const known: Answer = { kind: "found", view: released(7) };
  const answers = fc.constantFrom<Answer>(
    { kind: "absent" },
    { kind: "conflict" },
    { kind: "found", view: released(6) },
    known,
    { kind: "failed", failure: failure("unreachable") },
    { kind: "failed", failure: failure("denied") },
    { kind: "failed", failure: failure("throttled", 0) },
  );
  const ofOneKind = (kinds: readonly Answer[]) => {
    let n = 0;
    return () => kinds[n++ % kinds.length];
  };

  it("requests do not follow each other without a pause", () => {
    const cycle = fc.array(answers, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(cycle, cycle, cycle, fc.boolean(), (toReads, toCreates, toUpdates, isWatching) => {
        const rig = new Rig();
        rig.start();
        if (isWatching) rig.watchUp();
        const [read, create, update] = [toReads, toCreates, toUpdates].map(ofOneKind);
        const effects = rig.run(30_000, (request) => {
          if (request.type === "read") return read?.();
          return request.over ? update?.() : create?.();
        });
        expect(verbs(effects).length).toBeLessThan(30 * 10);
      }),
      { seed, numRuns: runs / 3 },
    );
  });
});

/** What comes after these actions is not judged by the model, which is slow. */
function playedOut(given: Config, randomness: number, actions: readonly Action[]): World {
  const world = new World(given, randomness);
  world.play([start, ...actions]);
  world.rig.onBefore = undefined;
  world.rig.onStep = undefined;
  return world;
}
