import fc from "fast-check";
import { expect, it } from "vitest";
import { fit, follow, pan, ticksIn, zoom } from "./time-range.ts";

const range = fc
  .tuple(fc.integer({ min: 0, max: 2e12 }), fc.integer({ min: 100, max: 1e9 }))
  .map(([fromMs, lengthMs]) => ({ fromMs, toMs: fromMs + lengthMs }));

it("zooming keeps the moment under the pointer where it is", () => {
  fc.assert(
    fc.property(
      range,
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (shown, factor, part) => {
        const aroundMs = shown.fromMs + (shown.toMs - shown.fromMs) * part;
        const next = zoom(shown, factor, aroundMs);
        const after = (aroundMs - next.fromMs) / (next.toMs - next.fromMs);
        expect(after).toBeCloseTo(part, 3);
      },
    ),
  );
});

it("zooming in has an end", () => {
  let shown = { fromMs: 0, toMs: 1_000 };
  for (let count = 0; count < 50; count++) shown = zoom(shown, 0.5, 500);
  expect(shown.toMs - shown.fromMs).toBeCloseTo(50);
});

it("panning there and back changes nothing; following keeps the length", () => {
  const shown = { fromMs: 1_000, toMs: 2_000 };
  expect(pan(pan(shown, 0.25), -0.25)).toEqual(shown);
  expect(follow(shown, 10_000)).toEqual({ fromMs: 9_080, toMs: 10_080 });
  expect(fit(0, 100_000)).toEqual({ fromMs: -2_000, toMs: 108_000 });
});

it("ticks are in the range, even, at round local times, and neither crowded nor absent", () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 300, max: 2_000 }), (shown, width) => {
      const ticks = ticksIn(shown, width, 3_600_000);
      expect(ticks.length).toBeLessThanOrEqual(width / 90 + 2);
      for (const { ms } of ticks) expect(ms >= shown.fromMs && ms <= shown.toMs).toBe(true);
      const gaps = new Set(ticks.slice(1).map(({ ms }, index) => ms - (ticks[index]?.ms ?? 0)));
      expect(gaps.size).toBeLessThanOrEqual(1);
    }),
  );
  expect(ticksIn({ fromMs: 0, toMs: 60_000 }, 500, 0).map(({ label }) => label)).toEqual([
    "00:00:00",
    "00:00:15",
    "00:00:30",
    "00:00:45",
    "00:01:00",
  ]);
});
