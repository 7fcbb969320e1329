import { expect, it } from "vitest";
import { paintFor, widthOf } from "./paint.ts";
import { drawTimeline, type TimelineOptions } from "./timeline.ts";

const plain = paintFor({ isTerminal: false, env: () => undefined });
const coloured = paintFor({ isTerminal: true, env: () => undefined });

function draw(more: Partial<TimelineOptions>): string[] {
  return drawTimeline({
    spans: [],
    knownFromMs: 0,
    nowMs: 20_000,
    windowMs: 20_000,
    width: 30,
    paint: plain,
    colourOf: () => 0,
    ...more,
  });
}

it("draws one row per holder, with blocks for its terms and dots where nobody led", () => {
  const lines = draw({
    width: 29,
    spans: [
      { holder: "pod-a", fromMs: 0, toMs: 8_000 },
      { holder: "pod-b", fromMs: 10_000, toMs: 16_000 },
      { holder: "pod-a", fromMs: 16_000 },
    ],
  });
  expect(lines).toEqual([
    "  pod-a  ████████··      ████",
    "  pod-b          ··██████    ",
    "         20s ago          now",
  ]);
});

it("draws a gap in a cell only if it was vacant for most of its time", () => {
  const spans = [
    { holder: "pod-a", fromMs: 0, toMs: 4_400 },
    { holder: "pod-a", fromMs: 6_400 },
  ];
  expect(draw({ width: 29, spans })[0]).toBe("  pod-a  ████··██████████████");
});

it("draws nothing where nothing is known or outside of the window", () => {
  const [row, ...more] = draw({
    width: 29,
    knownFromMs: 10_000,
    spans: [
      { holder: "gone", fromMs: -9_000, toMs: -1_000 },
      { holder: "pod-a", fromMs: 14_000 },
    ],
  });
  expect(row).toBe("  pod-a            ····██████");
  expect(more).toHaveLength(1);
});

it("shows the present leader at the right edge, and counts only the known part of a cell", () => {
  const spans = [
    { holder: "pod-a", fromMs: 18_400, toMs: 19_900 },
    { holder: "pod-b", fromMs: 19_900 },
  ];
  expect(draw({ width: 29, knownFromMs: 18_400, spans }).slice(0, 2)).toEqual([
    "  pod-a                    █ ",
    "  pod-b                     █",
  ]);
});

it("fits into the width, even with colours and long names", () => {
  const spans = [{ holder: "a".repeat(80), fromMs: 0 }];
  for (const line of draw({ spans, width: 70, paint: coloured }))
    expect(widthOf(line)).toBeLessThanOrEqual(70);
});

it("removes control characters from names", () => {
  expect(draw({ spans: [{ holder: "x\u001b[2Jy", fromMs: 0 }] }).join("")).not.toContain("\u001b");
});

it.each([
  ["NO_COLOR", "1"],
  ["TERM", "dumb"],
])("no colours with %s=%s", (name, value) => {
  const paint = paintFor({ isTerminal: true, env: (asked) => (asked === name ? value : undefined) });
  expect(paint.good("x")).toBe("x");
  expect(coloured.good("x")).not.toBe("x");
});
