/** What is drawn: the visible elections, the visible time, and the colours. */
import type { TimelineData } from "../model/timeline.ts";
import type { Palette } from "./palette.ts";
import type { Placed } from "./rows.ts";
import type { TimeRange } from "./time-range.ts";

export interface Scene {
  readonly context: CanvasRenderingContext2D;
  readonly palette: Palette;
  readonly stripes: { readonly gap: CanvasPattern | string; readonly lost: CanvasPattern | string };
  readonly range: TimeRange;
  /** Where the time axis begins, and how wide it is. */
  readonly leftPx: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly nowMs: number;
  /** Of the viewer's local time from UTC. */
  readonly offsetMs: number;
  readonly isRecording: boolean;
  readonly blind: TimelineData["blind"];
  readonly selected: string | undefined;
}

export interface Block extends Placed {
  /** From the upper edge of the canvas. */
  readonly yPx: number;
}

export function xOf({ range, leftPx, widthPx }: Scene, ms: number): number {
  return leftPx + ((ms - range.fromMs) / (range.toMs - range.fromMs)) * widthPx;
}

export function msOf(
  { range, leftPx, widthPx }: Pick<Scene, "range" | "leftPx" | "widthPx">,
  xPx: number,
): number {
  return range.fromMs + ((xPx - leftPx) / widthPx) * (range.toMs - range.fromMs);
}
