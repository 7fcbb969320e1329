/** Random histories of one candidate, checked by a slow and simple model. A failure is shrunk and prints its seed. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Action, action, Environment } from "./testing/environment.ts";
import { held, released } from "./testing/records.ts";
import { config, failure, TestCandidate, verbs } from "./testing/test-candidate.ts";
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

describe("in any history", () => {
  it("the candidate never does what the model forbids", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(configs, fc.nat(), history, (given, randomness, actions) => {
        const environment = new Environment(given, randomness);
        environment.play([start, ...actions]);
        for (const { type } of environment.candidate.effects) seen.set(type, (seen.get(type) ?? 0) + 1);
        expect(environment.violations).toEqual([]);
      }),
      { seed, numRuns: runs },
    );
    // If the histories never reach these effects, the test proves nothing.
    for (const type of [
      "accept",
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

  it("the candidate leads in the end, once the others are gone and the API server works", () => {
    fc.assert(
      fc.property(configs, fc.nat(), history, fc.boolean(), (given, randomness, actions, isWatching) => {
        const { candidate, server } = afterActions(given, randomness, actions);
        server.annotate({});
        if (isWatching) candidate.watchUp();
        for (let turns = 0; turns < 8; turns++) {
          candidate.start();
          candidate.run(15_000, server.answer);
          if (candidate.phase === "lost" || candidate.phase === "draining") candidate.workStopped();
        }
        expect({ phase: candidate.phase, mayWork: candidate.mayWork }).toEqual({
          phase: "leading",
          mayWork: true,
        });
      }),
      { seed, numRuns: runs / 3 },
    );
  });

  it("a stop completes once the work has stopped, even if the API server is unreachable", () => {
    fc.assert(
      fc.property(configs, fc.nat(), history, fc.boolean(), (given, randomness, actions, isReachable) => {
        const { candidate, server } = afterActions(given, randomness, actions);
        candidate.stop();
        candidate.workStopped();
        candidate.run(20_000, isReachable ? server.answer : () => undefined);
        expect(candidate.phase).toBe("idle");
        expect(
          candidate.effects.findLast(({ type }) => type === "stopped" || type === "term-started")?.type,
        ).toBe("stopped");
        expect(candidate.nextWakeMs).toBe(Number.POSITIVE_INFINITY);
      }),
      { seed, numRuns: runs / 3 },
    );
  });
});

describe("whatever the API server keeps answering", () => {
  const known: Answer = { kind: "found", view: released(7) };
  const transfer = { transitions: 0, to: "a" };
  const asked: Answer = { kind: "found", view: { ...held(8), orders: { transfer } } };
  const answers = fc.constantFrom<Answer>(
    { kind: "absent" },
    { kind: "conflict" },
    { kind: "found", view: released(6) },
    known,
    asked,
    { kind: "failed", failure: failure("unreachable") },
    { kind: "failed", failure: failure("denied") },
    { kind: "failed", failure: failure("throttled", 0) },
  );
  const inRotation = (kinds: readonly Answer[]) => {
    let n = 0;
    return () => kinds[n++ % kinds.length];
  };

  it("the candidate does not send requests in a tight loop", () => {
    const cycle = fc.array(answers, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(cycle, cycle, cycle, fc.boolean(), (toReads, toCreates, toUpdates, isWatching) => {
        const candidate = new TestCandidate();
        candidate.start();
        if (isWatching) candidate.watchUp();
        const [read, create, update] = [toReads, toCreates, toUpdates].map(inRotation);
        const effects = candidate.run(30_000, (request) => {
          if (request.type === "read") return read?.();
          return request.over ? update?.() : create?.();
        });
        expect(verbs(effects).length).toBeLessThan(30 * 10);
      }),
      { seed, numRuns: runs / 3 },
    );
  });
});

/** Plays the actions, and detaches the model, which is slow, from what comes after them. */
function afterActions(given: Config, randomness: number, actions: readonly Action[]): Environment {
  const environment = new Environment(given, randomness);
  environment.play([start, ...actions]);
  environment.candidate.onBefore = undefined;
  environment.candidate.onStep = undefined;
  return environment;
}
