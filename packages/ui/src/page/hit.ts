/** What is under the pointer. */
import { describeGap, describeTerm } from "../model/describe.ts";
import type { ElectionLine } from "../model/election.ts";
import { inRange } from "./draw.ts";
import { gapLinePx, headPx, rowPx, rowsOf } from "./rows.ts";
import { type Block, msOf, type Scene } from "./scene.ts";
import { timeOfDay } from "./time-range.ts";

export interface Hit {
  readonly line: ElectionLine;
  /** Undefined where there is nothing to say. */
  readonly text?: string;
}

/** How far the pointer may be from a thing. */
const reachPx = 4;

export function hitAt(
  scene: Pick<Scene, "range" | "leftPx" | "widthPx" | "nowMs">,
  blocks: readonly Block[],
  xPx: number,
  yPx: number,
  offsetMs: number,
): Hit | undefined {
  const block = blocks.find((one) => yPx >= one.yPx && yPx < one.yPx + one.heightPx);
  if (!block) return undefined;
  const { line } = block;
  if (xPx < scene.leftPx) return { line };
  const text = textAt(scene, line, xPx, yPx - block.yPx, offsetMs);
  return text === undefined ? { line } : { line, text };
}

function textAt(
  scene: Pick<Scene, "range" | "leftPx" | "widthPx" | "nowMs">,
  line: ElectionLine,
  xPx: number,
  yPx: number,
  offsetMs: number,
): string | undefined {
  const fromMs = msOf(scene, xPx - reachPx);
  const toMs = msOf(scene, xPx + reachPx);
  const { nowMs } = scene;
  const at = (ms: number) => timeOfDay(ms, offsetMs);
  if (yPx < headPx) return undefined;
  if (yPx < headPx + gapLinePx) {
    const note = line.notes.findLast(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    const gap = inRange(line.gaps, fromMs, toMs).at(-1);
    const lines = [
      ...(gap
        ? [
            `Nobody led: ${describeGap(gap, nowMs)}`,
            `from ${at(gap.fromMs)}${gap.toMs === undefined ? "" : ` to ${at(gap.toMs)}`}`,
          ]
        : []),
      ...(note ? [`${at(note.atMs)} ${note.text}`] : []),
    ];
    return lines.length === 0 ? undefined : lines.join("\n");
  }
  const rows = rowsOf(line);
  const row = rows[Math.floor((yPx - headPx - gapLinePx) / rowPx)];
  if (!row) return undefined;
  const shown = new Set(rows.map(({ id }) => id));
  const term = inRange(line.terms, fromMs, toMs).findLast(({ holder }) =>
    row.id === undefined ? !shown.has(holder) : holder === row.id,
  );
  if (!term) return undefined;
  const end = term.toMs === undefined ? `lease valid until ${at(term.expiresMs)}` : `until ${at(term.toMs)}`;
  return [
    describeTerm(term, nowMs),
    `from ${at(term.fromMs)}, ${end}`,
    `last renewal ${at(term.lastSignMs)}`,
  ].join("\n");
}
