/** How long nobody receives traffic when the leader changes. */
import type { Observation } from "./witness.ts";

export interface Gap {
  /** The time without a pod in traffic. */
  readonly gapMs: number;
  /** The time until the successor is in traffic. */
  readonly takeoverMs: number;
}

/** @param sinceMs when the failover began */
export function gapAfter(observations: readonly Observation[], sinceMs: number, successor: string): Gap {
  const arrival = observations.find(({ atMs, pods }) => atMs >= sinceMs && pods.includes(successor));
  const empty = observations.find(({ atMs, pods }) => atMs >= sinceMs && pods.length === 0);
  const arrivedMs = arrival?.atMs ?? Number.NaN;
  return { gapMs: empty ? arrivedMs - empty.atMs : 0, takeoverMs: arrivedMs - sinceMs };
}

/** How often, and for how long in total, no pod was in traffic from this moment on. */
export function gapsSince(observations: readonly Observation[], sinceMs: number) {
  const gaps = observations.flatMap(({ atMs, pods }, index) => {
    const next = observations[index + 1];
    return atMs >= sinceMs && pods.length === 0 && next ? [next.atMs - atMs] : [];
  });
  return { count: gaps.length, totalMs: gaps.reduce((sum, ms) => sum + ms, 0) };
}

/** "p50 / max" in milliseconds. */
export function figures(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1]?.toFixed(0)} / ${sorted.at(-1)?.toFixed(0)}`;
}
