import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Progress } from "./progress.ts";

describe("Progress", () => {
  it("starts at the given cursor", () => {
    expect(new Progress(7).cursor).toBe(7);
    expect(new Progress<number>(undefined).cursor).toBeUndefined();
  });

  it("does not move past an unfinished message", () => {
    const progress = new Progress<number>(undefined);
    const [one, two, three] = [1, 2, 3].map((cursor) => progress.begin(cursor));
    if (!one || !two || !three) throw new Error("three steps were started");
    progress.finish(two);
    expect(progress.cursor).toBeUndefined();
    progress.finish(one);
    expect(progress.cursor).toBe(2);
    progress.finish(three);
    expect(progress.cursor).toBe(3);
  });

  it("is the end of the longest finished prefix, in whatever order messages finish", () => {
    const order = fc.integer({ min: 1, max: 30 }).chain((count) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, index) => index + 1),
        { minLength: 0 },
      ),
    );
    fc.assert(
      fc.property(order, (finished) => {
        const progress = new Progress<number>(0);
        const steps = Array.from({ length: 30 }, (_, index) => progress.begin(index + 1));
        for (const cursor of finished) {
          const step = steps[cursor - 1];
          if (step) progress.finish(step);
        }
        let expected = 0;
        while (finished.includes(expected + 1)) expected++;
        expect(progress.cursor).toBe(expected);
      }),
    );
  });
});
