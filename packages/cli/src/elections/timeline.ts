/**
 * Who held an election when, drawn: one row a holder, time from left to right, now at the right edge. Where there
 * are dots nobody led; where there is nothing, nothing is known. Pure: what to draw and how wide comes in, lines go out.
 */
import type { Span } from "./history.ts";
import { harmless, type Paint, pad, widthOf } from "./paint.ts";
import { spell } from "./time-words.ts";

export interface TimelineOptions {
  readonly spans: readonly Span[];
  /** Nothing is known of the time before. */
  readonly knownFromMs: number;
  readonly nowMs: number;
  /** How far back the left edge is. */
  readonly windowMs: number;
  /** Columns in all, with the names. */
  readonly width: number;
  readonly paint: Paint;
  /** The same holder gets the same colour in every drawing. */
  colourOf(holder: string): number;
}

const widestName = 32;
const narrowestBar = 10;
const full = "█";
const gap = "·";

export function drawTimeline(options: TimelineOptions): string[] {
  const { spans, nowMs, knownFromMs, windowMs, width, paint, colourOf } = options;
  const startMs = nowMs - windowMs;
  const visible = spans.filter(({ toMs }) => (toMs ?? nowMs) > startMs);
  const holders = [...new Set(visible.map(({ holder }) => holder))];
  const labels = holders.map((holder) => shorten(harmless(holder), widestName));
  const labelWidth = Math.max(3, ...labels.map(widthOf));
  const columns = Math.max(narrowestBar, width - labelWidth - 4);
  const cellMs = windowMs / columns;
  const cells = Array.from({ length: columns }, (_, index) => {
    const fromMs = startMs + index * cellMs;
    // The right edge is now, not the average of the last moments.
    return index === columns - 1
      ? at(visible, nowMs)
      : during(visible, Math.max(fromMs, knownFromMs), fromMs + cellMs, nowMs);
  });
  const rows = holders.map((holder, row) => {
    const bar = cells.map((cell) => (cell === vacant ? gap : cell === holder ? full : " "));
    return `  ${pad(labels[row] as string, labelWidth)}  ${painted(bar, paint, colourOf(holder))}`;
  });
  const left = `${spell(windowMs)} ago`;
  const axis = `${pad(left, columns - 3)}now`;
  return [...rows, paint.dim(`  ${" ".repeat(labelWidth)}  ${axis}`)];
}

/** No holder has this name: identities are not empty. */
const vacant = "";

function at(spans: readonly Span[], nowMs: number): string {
  return spans.find(({ fromMs, toMs }) => fromMs <= nowMs && toMs === undefined)?.holder ?? vacant;
}

/** Who held most of this time; vacant if nobody held most of it; undefined if nothing is known of it. */
function during(spans: readonly Span[], fromMs: number, untilMs: number, nowMs: number): string | undefined {
  const lengthMs = untilMs - fromMs;
  if (lengthMs <= 0) return undefined;
  let best = { holder: vacant, ms: 0 };
  let vacantMs = lengthMs;
  for (const { holder, fromMs: begin, toMs = nowMs } of spans) {
    const ms = Math.min(toMs, untilMs) - Math.max(begin, fromMs);
    if (ms <= 0) continue;
    vacantMs -= ms;
    if (ms > best.ms) best = { holder, ms };
  }
  return vacantMs > lengthMs / 2 ? vacant : best.holder;
}

function painted(cells: readonly string[], paint: Paint, colour: number): string {
  // One escape for a run of cells, not for each: a redraw every second should be small.
  const runs = cells.join("").match(/(.)\1*/gu) ?? [];
  return runs
    .map((run) =>
      run.startsWith(full) ? paint.nth(colour, run) : run.startsWith(gap) ? paint.dim(run) : run,
    )
    .join("");
}

export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 9)}…${text.slice(-8)}`;
}
