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

it("one row a holder, blocks for its terms, dots where nobody led", () => {
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

it("a cell that was vacant for most of its time is a gap, and one that was not is none", () => {
  const spans = [
    { holder: "pod-a", fromMs: 0, toMs: 4_400 },
    { holder: "pod-a", fromMs: 6_400 },
  ];
  expect(draw({ width: 29, spans })[0]).toBe("  pod-a  ████··██████████████");
});

it("nothing where nothing is known, nor what is out of the window", () => {
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

it("at the right edge is who leads now, however short; what is known of a cell is all that counts", () => {
  const spans = [
    { holder: "pod-a", fromMs: 18_400, toMs: 19_900 },
    { holder: "pod-b", fromMs: 19_900 },
  ];
  expect(draw({ width: 29, knownFromMs: 18_400, spans }).slice(0, 2)).toEqual([
    "  pod-a                    █ ",
    "  pod-b                     █",
  ]);
});

it("fits the width it is given, also with colours, and is not wider than asked by a long name", () => {
  const spans = [{ holder: "a".repeat(80), fromMs: 0 }];
  for (const line of draw({ spans, width: 70, paint: coloured }))
    expect(widthOf(line)).toBeLessThanOrEqual(70);
});

it("a name cannot send the terminal anything", () => {
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
