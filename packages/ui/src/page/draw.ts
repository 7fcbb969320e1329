/** Draws elections on a canvas: only what is visible, and nothing smaller than a pixel twice. */

import { describeGap, endingOf } from "../model/describe.ts";
import type { ElectionLine, Gap, Term } from "../model/election.ts";
import { presentTerm } from "../model/election.ts";
import { overlapsIn } from "../model/overlaps.ts";
import { drawShares } from "./draw-shares.ts";
import { firstIndex, gapLinePx, headPx, type Row, rowPx, rowsOf } from "./rows.ts";
import { type Block, type Scene, xOf } from "./scene.ts";
import { ticksIn } from "./time-range.ts";

const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const barPx = 17;
/** Shorter bars and gaps are drawn this wide, so that nothing is invisible. */
const leastPx = 2;
/** No text fits into less. */
const leastTextPx = 24;

export function drawElections(scene: Scene, blocks: readonly Block[]): void {
  const { context, palette, widthPx, heightPx, leftPx } = scene;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, leftPx + widthPx, heightPx);
  context.font = font;
  context.textBaseline = "middle";
  for (const block of blocks) {
    if (block.line.key !== scene.selected) continue;
    context.fillStyle = palette.select;
    context.fillRect(0, block.yPx, leftPx + widthPx, headPx);
  }
  context.save();
  context.beginPath();
  context.rect(leftPx, 0, widthPx, heightPx);
  context.clip();
  drawGrid(scene);
  for (const block of blocks) drawElection(scene, block);
  drawNow(scene);
  context.restore();
}

function drawGrid(scene: Scene): void {
  const { context, palette, range, widthPx, heightPx, blind } = scene;
  context.fillStyle = palette.line;
  context.globalAlpha = 0.6;
  for (const { ms } of ticksIn(range, widthPx, scene.offsetMs))
    context.fillRect(Math.round(xOf(scene, ms)), 0, 1, heightPx);
  context.globalAlpha = 1;
  context.fillStyle = palette.blind;
  for (const { fromMs, toMs } of blind) {
    const x = xOf(scene, fromMs);
    context.fillRect(x, 0, Math.max(1, xOf(scene, toMs ?? scene.nowMs) - x), heightPx);
  }
}

function drawNow(scene: Scene): void {
  if (scene.isRecording) return;
  scene.context.fillStyle = scene.palette.soft;
  scene.context.fillRect(Math.round(xOf(scene, scene.nowMs)), 0, 1, scene.heightPx);
}

function drawElection(scene: Scene, { line, yPx, heightPx }: Block): void {
  const gapY = yPx + headPx;
  const rowY = gapY + gapLinePx;
  const rows = rowsOf(line);
  drawGaps(scene, line, gapY);
  drawNotes(scene, line, gapY);
  drawTerms(scene, line, rows, rowY);
  drawWork(scene, line, rows, rowY);
  drawFreshness(scene, line, rows, rowY);
  drawOverlaps(scene, line, rowY, rows.length * rowPx);
  if (line.owners) drawShares(scene, line, yPx + heightPx - 34);
}

/** The terms or gaps that are in the visible time. */
export function inRange<T extends { readonly fromMs: number; readonly toMs?: number }>(
  spans: readonly T[],
  fromMs: number,
  toMs: number,
): readonly T[] {
  const first = firstIndex(spans, (span) => (span.toMs ?? Number.POSITIVE_INFINITY) > fromMs);
  const end = firstIndex(spans, (span) => span.fromMs >= toMs);
  return spans.slice(first, Math.max(first, end));
}

function drawGaps(scene: Scene, line: ElectionLine, yPx: number): void {
  const { context, palette, stripes, range, nowMs } = scene;
  let freePx = Number.NEGATIVE_INFINITY;
  let drawnPx = Number.NEGATIVE_INFINITY;
  const gaps = inRange(line.gaps, range.fromMs, range.toMs);
  for (const [index, gap] of gaps.entries()) {
    const x = xOf(scene, gap.fromMs);
    const end = xOf(scene, gap.toMs ?? nowMs);
    if (end <= drawnPx && gap.toMs !== undefined) continue;
    drawnPx = Math.max(Math.ceil(end), x + leastPx);
    context.fillStyle = isLoss(gap) ? stripes.lost : stripes.gap;
    context.fillRect(x, yPx + 4, Math.max(end - x, leastPx), 12);
    context.strokeStyle = isLoss(gap) ? palette.lost : palette.hatch;
    context.lineWidth = 1;
    if (end - x > 3) context.strokeRect(x + 0.5, yPx + 4.5, end - x - 1, 11);
    const next = gaps[index + 1];
    const nextX = next ? xOf(scene, next.fromMs) : scene.leftPx + scene.widthPx;
    const textX = Math.max(end, scene.leftPx) + 5;
    // Measuring a text takes longer than drawing a bar.
    if (end - x < leastTextPx && (nextX - textX < leastTextPx || textX < freePx)) continue;
    const inside = end - x - 12;
    const text = gapTexts(gap, nowMs).find((one) => context.measureText(one).width <= inside);
    if (text !== undefined) {
      label(scene, text, Math.max(x, scene.leftPx) + 6, yPx + 10, palette.text, true);
      freePx = end;
      continue;
    }
    if (textX < freePx) continue;
    const room = nextX - textX;
    const beside = gapTexts(gap, nowMs).find((one) => context.measureText(one).width < room);
    if (beside === undefined) continue;
    label(scene, beside, textX, yPx + 10, isLoss(gap) ? palette.lost : palette.soft, false);
    freePx = textX + context.measureText(beside).width + 8;
  }
}

/** The longest first. */
function gapTexts(gap: Gap, nowMs: number): readonly string[] {
  const { detail: _, ...short } = gap;
  return [describeGap(gap, nowMs), describeGap(short, nowMs)];
}

export function isLoss({ reason }: Gap): boolean {
  return ["crash", "frozen", "cut-off", "expired", "deleted", "unreadable"].includes(reason);
}

function label(
  { context, palette }: Scene,
  text: string,
  x: number,
  y: number,
  colour: string,
  onStripes: boolean,
): void {
  if (onStripes) {
    context.fillStyle = palette.ground;
    context.fillRect(x - 3, y - 7, context.measureText(text).width + 6, 14);
  }
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

function drawNotes(scene: Scene, { notes }: ElectionLine, yPx: number): void {
  const { context, palette, range } = scene;
  context.fillStyle = palette.stopping;
  for (const { atMs } of notes) {
    if (atMs < range.fromMs || atMs > range.toMs) continue;
    const x = xOf(scene, atMs);
    context.beginPath();
    context.moveTo(x - 4, yPx);
    context.lineTo(x + 4, yPx);
    context.lineTo(x, yPx + 6);
    context.fill();
  }
}

function colourOf({ palette }: Scene, { ending }: Term): string {
  if (ending === undefined) return palette.leads;
  if (ending === "released" || ending === "restarted") return palette.handed;
  return ending === "expired" ? palette.lost : palette.other;
}

function drawTerms(scene: Scene, line: ElectionLine, rows: readonly Row[], yPx: number): void {
  const { range, nowMs } = scene;
  const places = new Map(rows.map(({ id }, index) => [id, index]));
  const others = rows.length - 1;
  const drawnPx = rows.map(() => Number.NEGATIVE_INFINITY);
  for (const term of inRange(line.terms, range.fromMs, range.toMs)) {
    const row = places.get(term.holder) ?? others;
    const x = xOf(scene, term.fromMs);
    const end = Math.max(xOf(scene, term.toMs ?? nowMs), x + leastPx);
    if (end <= (drawnPx[row] ?? 0) && term.toMs !== undefined) continue;
    drawnPx[row] = Math.ceil(end);
    drawTerm(scene, term, x, end, yPx + row * rowPx + 3);
  }
}

function drawTerm(scene: Scene, term: Term, x: number, end: number, yPx: number): void {
  const { context, palette, stripes } = scene;
  context.fillStyle = colourOf(scene, term);
  // After the last renewal of a lost term nobody knows whether it still worked.
  const sure = term.ending === "expired" ? Math.max(x + leastPx, xOf(scene, term.lastSignMs)) : end;
  if (sure - x < 6) context.fillRect(x, yPx, sure - x, barPx);
  else {
    context.beginPath();
    context.roundRect(x, yPx, sure - x, barPx, 4);
    context.fill();
  }
  if (sure < end - 1) {
    context.fillStyle = stripes.lost;
    context.fillRect(sure, yPx + 1, end - sure, barPx - 2);
    context.strokeStyle = palette.lost;
    context.strokeRect(sure + 0.5, yPx + 1.5, end - sure - 1, barPx - 3);
  }
  if (term.ending === "expired" && end - x > 12)
    cross(scene, sure < end - 12 ? end - 8 : end - 6, yPx + barPx / 2, sure < end - 12);
  const from = Math.max(x, scene.leftPx);
  const room = Math.min(sure, scene.leftPx + scene.widthPx) - from - 14;
  if (room < leastTextPx) return;
  const text = [
    `#${term.token ?? term.transitions}`,
    `#${term.token ?? term.transitions}  ${endingOf(term)}`,
  ].findLast((candidate) => context.measureText(candidate).width <= room);
  if (text === undefined) return;
  context.fillStyle = palette.onBar;
  context.fillText(text, from + 7, yPx + barPx / 2 + 0.5);
}

/** A sign beside the colour: this term was lost. */
function cross({ context, palette }: Scene, x: number, y: number, onStripes: boolean): void {
  context.strokeStyle = onStripes ? palette.lost : palette.onBar;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - 3, y - 3);
  context.lineTo(x + 3, y + 3);
  context.moveTo(x + 3, y - 3);
  context.lineTo(x - 3, y + 3);
  context.stroke();
  context.lineWidth = 1;
}

/** A line above the bar where the replica itself reported work. */
function drawWork(scene: Scene, line: ElectionLine, rows: readonly Row[], yPx: number): void {
  const { context, palette, range, nowMs } = scene;
  const places = new Map(rows.map(({ id }, index) => [id, index]));
  const drawnPx = rows.map(() => Number.NEGATIVE_INFINITY);
  context.fillStyle = palette.text;
  for (const work of line.work) {
    if ((work.toMs ?? nowMs) < range.fromMs || work.fromMs > range.toMs) continue;
    const row = places.get(work.id) ?? rows.length - 1;
    const x = xOf(scene, work.fromMs);
    const end = Math.max(xOf(scene, work.toMs ?? nowMs), x + 1);
    if (end <= (drawnPx[row] ?? 0)) continue;
    drawnPx[row] = Math.ceil(end);
    context.fillRect(x, yPx + row * rowPx, end - x, 2);
  }
}

/** Renewals as ticks; deadline and expiry of the present term as marks. */
function drawFreshness(scene: Scene, line: ElectionLine, rows: readonly Row[], yPx: number): void {
  const { context, palette, range, isRecording } = scene;
  const rowOf = (id: string) => {
    const index = rows.findIndex((row) => row.id === id);
    return index === -1 ? rows.length - 1 : index;
  };
  const { renewals } = line;
  const first = firstIndex(renewals, (ms) => ms >= range.fromMs);
  let lastPx = Number.NEGATIVE_INFINITY;
  context.fillStyle = palette.soft;
  for (let index = first; index < renewals.length && (renewals[index] as number) <= range.toMs; index++) {
    const ms = renewals[index] as number;
    const x = xOf(scene, ms);
    if (x - lastPx < 2) continue;
    lastPx = x;
    const term = line.terms[firstIndex(line.terms, ({ fromMs }) => fromMs > ms) - 1];
    if (term) context.fillRect(x, yPx + rowOf(term.holder) * rowPx + 3 + barPx, 1, 4);
  }
  const term = presentTerm(line);
  if (!term || isRecording) return;
  const y = yPx + rowOf(term.holder) * rowPx + 3;
  context.fillStyle = palette.lost;
  context.fillRect(xOf(scene, term.expiresMs) - 1, y, 2, barPx + 4);
  const { deadlineMs } = line.replicas.find(({ id }) => id === term.holder) ?? {};
  if (deadlineMs === undefined) return;
  const x = xOf(scene, deadlineMs);
  context.fillStyle = palette.stopping;
  context.beginPath();
  context.moveTo(x - 4, y);
  context.lineTo(x + 4, y);
  context.lineTo(x, y + 7);
  context.fill();
}

function drawOverlaps(scene: Scene, line: ElectionLine, yPx: number, heightPx: number): void {
  const { context, palette, nowMs } = scene;
  context.strokeStyle = palette.overlap;
  context.lineWidth = 2;
  for (const { fromMs, toMs } of cachedOverlaps(line, nowMs)) {
    const x = xOf(scene, fromMs);
    context.strokeRect(x - 1, yPx, Math.max(xOf(scene, toMs) - x, 2) + 2, heightPx);
  }
  context.lineWidth = 1;
}

const overlapCache = new WeakMap<
  ElectionLine,
  { readonly key: string; readonly overlaps: readonly { fromMs: number; toMs: number }[] }
>();

/** Work changes seldom, and a frame must be fast. */
function cachedOverlaps(line: ElectionLine, nowMs: number) {
  const open = line.work.filter(({ toMs }) => toMs === undefined).length;
  const key = `${line.work.length} ${open}${open > 1 ? ` ${Math.round(nowMs / 1_000)}` : ""}`;
  const before = overlapCache.get(line);
  if (before?.key === key) return before.overlaps;
  const { overlaps } = overlapsIn(line, nowMs);
  overlapCache.set(line, { key, overlaps });
  return overlaps;
}

export function drawAxis(scene: Scene): void {
  const { context, palette, range, leftPx, widthPx, heightPx, offsetMs } = scene;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, leftPx + widthPx, heightPx);
  context.font = font;
  context.textBaseline = "middle";
  context.fillStyle = palette.soft;
  for (const { ms, label: text } of ticksIn(range, widthPx, offsetMs)) {
    const x = xOf(scene, ms);
    if (x < leftPx) continue;
    context.fillRect(Math.round(x), heightPx - 6, 1, 6);
    context.fillText(
      text,
      Math.min(x + 4, leftPx + widthPx - context.measureText(text).width - 2),
      heightPx / 2 - 2,
    );
  }
  context.fillStyle = palette.line;
  context.fillRect(0, heightPx - 1, leftPx + widthPx, 1);
}
