/** The timeline against a model that asks, for a moment, the whole list of observations from its beginning. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { ElectionLine } from "./election.ts";
import type { Observation } from "./observation.ts";
import { overlapsIn } from "./overlaps.ts";
import { Timeline } from "./timeline.ts";

const election = "ns/x";

const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 4_000 }),
  what: fc.oneof(
    fc.record({
      kind: fc.constant("lock" as const),
      holder: fc.constantFrom("", "a", "b", "c"),
      transitions: fc.integer({ min: 0, max: 2 }),
      leaseMs: fc.constantFrom(1_000, 3_000),
    }),
    fc.constant({ kind: "renewed" as const }),
    fc.constant({ kind: "deleted" as const }),
    fc.constant({ kind: "unreadable" as const, problem: "?" }),
    fc.record({
      kind: fc.constant("replica" as const),
      id: fc.constantFrom("a", "b", "c"),
      phase: fc.constantFrom("leader", "follower", "pre-follower"),
      works: fc.boolean(),
      healthy: fc.constant(true),
      message: fc.constant(""),
    }),
    fc.record({ kind: fc.constant("lost" as const), id: fc.constantFrom("a", "b", "c") }),
    fc.constant({ kind: "time" as const }),
  ),
});

const histories = fc.array(step, { maxLength: 40 }).map((steps) => {
  let atMs = 1_000_000;
  return steps.map(({ waitMs, what }) => {
    atMs += waitMs;
    return { ...what, atMs, election } as Observation;
  });
});

/** Who holds an unexpired lease at this moment: plays everything again. */
function holderAt(seen: readonly Observation[], momentMs: number): string {
  let holder = "";
  let expiresMs = 0;
  let leaseMs = 0;
  for (const one of seen) {
    if (one.atMs > momentMs) break;
    // A lease that has expired is not renewed; the next write with a holder is a new term.
    if (holder !== "" && one.atMs >= expiresMs) holder = "";
    if (one.kind === "lock") {
      ({ holder, leaseMs } = one);
      expiresMs = one.atMs + leaseMs;
    } else if (one.kind === "renewed" && holder !== "") expiresMs = one.atMs + leaseMs;
    else if (one.kind === "deleted" || one.kind === "unreadable") holder = "";
  }
  return momentMs < expiresMs ? holder : "";
}

const covers = (span: { fromMs: number; toMs?: number }, ms: number) =>
  span.fromMs <= ms && ms < (span.toMs ?? Number.POSITIVE_INFINITY);

it("shows at every moment the holder that the slow model finds, and otherwise a gap", () => {
  fc.assert(
    fc.property(
      histories,
      fc.array(fc.integer({ min: 0, max: 120_000 }), { maxLength: 30 }),
      (seen, offsets) => {
        const timeline = new Timeline();
        for (const one of seen) timeline.observe(one);
        const line: ElectionLine | undefined = timeline.elections.get(election);
        const firstMs = seen.find(({ kind }) => kind === "lock")?.atMs;
        if (!line || firstMs === undefined) return;
        const endMs = timeline.nowMs;
        timeline.advance(endMs);
        const moments = [...offsets.map((offset) => firstMs + offset), ...seen.map(({ atMs }) => atMs)];
        for (const ms of moments.filter((moment) => moment >= firstMs && moment <= endMs)) {
          const holders = line.terms.filter((term) => covers(term, ms)).map(({ holder }) => holder);
          expect(holders).toEqual([holderAt(seen, ms)].filter((holder) => holder !== ""));
          if (holders.length === 0) expect(line.gaps.some((gap) => covers(gap, ms))).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});

it("has terms and gaps in order; a gap ends where the next term begins", () => {
  fc.assert(
    fc.property(histories, (seen) => {
      const timeline = new Timeline();
      for (const one of seen) timeline.observe(one);
      for (const { terms, gaps } of timeline.elections.values()) {
        for (const [index, term] of terms.entries()) {
          const next = terms[index + 1];
          if (next) expect(term.toMs ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(next.fromMs);
          expect(term.toMs ?? term.fromMs).toBeGreaterThanOrEqual(term.fromMs);
        }
        for (const gap of gaps.slice(0, -1))
          expect(terms.some(({ fromMs }) => fromMs === gap.toMs)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

it("finds the overlaps of witnessed work that a comparison of all pairs finds", () => {
  const spans = fc.array(
    fc.record({
      id: fc.constantFrom("a", "b", "c"),
      fromMs: fc.integer({ min: 0, max: 100 }),
      lengthMs: fc.integer({ min: 0, max: 10 }),
    }),
    { minLength: 1, maxLength: 20 },
  );
  fc.assert(
    fc.property(spans, (work) => {
      const timeline = new Timeline();
      for (const { id, fromMs, lengthMs } of work)
        timeline.observe({ kind: "work", atMs: 200, election, id, fromMs, toMs: fromMs + lengthMs });
      const pairs = work.some((one, index) =>
        work
          .slice(index + 1)
          .some((two) => one.fromMs <= two.fromMs + two.lengthMs && two.fromMs <= one.fromMs + one.lengthMs),
      );
      const { overlaps } = overlapsIn(timeline.elections.get(election) as ElectionLine, 200);
      expect(overlaps.length > 0).toBe(pairs);
    }),
  );
});
