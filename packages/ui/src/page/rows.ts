/** Which rows an election has, and where each election is on the page. Pure. */
import type { ElectionLine } from "../model/election.ts";

/** More replicas share the last row: after many rollouts there are hundreds of names. */
const mostRows = 6;

export interface Row {
  readonly label: string;
  /** Undefined for the row of all others. */
  readonly id?: string;
}

export const headPx = 34;
export const gapLinePx = 20;
export const rowPx = 26;
const sharesPx = 30;
const endPx = 10;

export function rowsOf(line: ElectionLine): Row[] {
  const ids = line.replicas.map(({ id }) => id);
  if (ids.length <= mostRows) return ids.map((id) => ({ id, label: id }));
  const kept = new Set<string>();
  for (let index = line.terms.length - 1; index >= 0 && kept.size < mostRows / 2; index--)
    kept.add((line.terms[index] as { holder: string }).holder);
  for (const replica of line.replicas) {
    const isPresent =
      replica.state !== undefined || (replica.reportedMs !== undefined && replica.lostMs === undefined);
    if (isPresent && kept.size < mostRows) kept.add(replica.id);
  }
  for (let index = ids.length - 1; index >= 0 && kept.size < mostRows; index--)
    kept.add(ids[index] as string);
  const rows = ids.filter((id) => kept.has(id)).map((id): Row => ({ id, label: id }));
  return [...rows, { label: `${ids.length - kept.size} others` }];
}

export function heightOf({ replicas, owners }: ElectionLine): number {
  const rows = Math.min(replicas.length, mostRows) + (replicas.length > mostRows ? 1 : 0);
  const shares = owners === undefined ? 0 : sharesPx;
  return headPx + gapLinePx + Math.max(rows, 1) * rowPx + shares + endPx;
}

export interface Placed {
  readonly line: ElectionLine;
  readonly topPx: number;
  readonly heightPx: number;
}

/** Where every election is, one under the other. */
export function place(lines: Iterable<ElectionLine>): {
  readonly placed: readonly Placed[];
  readonly heightPx: number;
} {
  const placed: Placed[] = [];
  let topPx = 0;
  for (const line of lines) {
    const heightPx = heightOf(line);
    placed.push({ line, topPx, heightPx });
    topPx += heightPx;
  }
  return { placed, heightPx: topPx };
}

/** Those that are at least partly between two heights. */
export function visible(placed: readonly Placed[], fromPx: number, toPx: number): readonly Placed[] {
  const first = firstIndex(placed, ({ topPx, heightPx }) => topPx + heightPx > fromPx);
  const end = firstIndex(placed, ({ topPx }) => topPx >= toPx);
  return placed.slice(first, end);
}

/** The first item for which the condition holds, if it holds for all that follow it. */
export function firstIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
