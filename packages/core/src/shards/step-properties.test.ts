import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actions, SetEnvironment } from "./testing/set-environment.ts";

const history = fc.array(
  fc.record({
    action: fc.constantFrom(...actions),
    choice: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  }),
  { minLength: 1, maxLength: 120 },
);

/** The member has shards, and another member has joined. */
const begin = [
  "answer",
  "join",
  "answer",
  "deliver-all",
  "answer",
  "answer",
  "deliver-all",
  "other-joins",
] as const;

describe("a member of a set", () => {
  it("does nothing that the model forbids, whatever happens", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const environment = new SetEnvironment();
        for (const { action, choice } of steps) environment.act(action, choice);
        expect(environment.violations).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  it("does nothing that the model forbids after it has got shards", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const environment = new SetEnvironment();
        for (const action of begin) environment.act(action, 0);
        for (const { action, choice } of steps) environment.act(action, choice);
        expect(environment.violations).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  it("does not start a shard by a map that a list has shown to be deleted, when the watch reports that map late", () => {
    const environment = new SetEnvironment();
    const late = ["wait-long", "stop-work", "delete-map", "answer", "deliver-all"] as const;
    for (const action of [...begin, ...late]) environment.act(action, 0);
    expect(environment.violations).toEqual([]);
  });
});
