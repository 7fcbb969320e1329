/**
 * Draws who held an election when: one row per holder, time from left to right, now at the right edge. Dots mean that nobody
 * led; blanks mean that nothing is known. Pure.
 */
import type { Span } from "../elections/history.ts";
import { spell } from "./durations.ts";
import { type Paint, pad, widthOf, withoutControls } from "./paint.ts";

export interface TimelineOptions {
  readonly spans: readonly Span[];
  /** Nothing is known about the time before this. */
  readonly knownFromMs: number;
  readonly nowMs: number;
  /** The time from the left edge to the right edge. */
  readonly windowMs: number;
  /** The total number of columns, including the names. */
  readonly width: number;
  readonly paint: Paint;
  /** Must give a holder the same colour in every drawing. */
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
  const labels = holders.map((holder) => shorten(withoutControls(holder), widestName));
  const labelWidth = Math.max(3, ...labels.map(widthOf));
  const columns = Math.max(narrowestBar, width - labelWidth - 4);
  const cellMs = windowMs / columns;
  const cells = Array.from({ length: columns }, (_, index) => {
    const fromMs = startMs + index * cellMs;
    // The rightmost cell shows the present holder, not the one that held most of the cell's time.
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

/** Cannot be a holder, because identities are not empty. */
const vacant = "";

function at(spans: readonly Span[], nowMs: number): string {
  return spans.find(({ fromMs, toMs }) => fromMs <= nowMs && toMs === undefined)?.holder ?? vacant;
}

/** The holder for most of this time; vacant if nobody held for most of it; undefined if nothing is known about it. */
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
  // One escape sequence per run of equal cells, because the timeline is redrawn every second.
  const runs = cells.join("").match(/(.)\1*/gu) ?? [];
  return runs
    .map((run) =>
      run.startsWith(full) ? paint.nth(colour, run) : run.startsWith(gap) ? paint.dim(run) : run,
    )
    .join("");
}

function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 9)}…${text.slice(-8)}`;
}
