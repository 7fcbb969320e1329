/**
 * The back-off of restarts and of images, as the kubelet has it: the first restart is immediate, then the wait doubles from 10 s
 * to 5 min. A container that ran for more than twice the longest wait starts over.
 */
import type { BackoffEntry } from "./types.ts";

const firstMs = 10_000;
const mostMs = 300_000;

/** When the container may start again. Undefined: now. @param endedMs when it last ended */
export function retryTime(
  entry: BackoffEntry | undefined,
  endedMs: number,
  nowMs: number,
): number | undefined {
  if (!entry || isExpired(entry, endedMs)) return undefined;
  const retryMs = endedMs + entry.delayMs;
  return retryMs > nowMs ? retryMs : undefined;
}

/** The entry after one more start. */
export function nextBackoff(entry: BackoffEntry | undefined, endedMs: number, nowMs: number): BackoffEntry {
  if (!entry || isExpired(entry, endedMs)) return { delayMs: firstMs, setMs: nowMs };
  return { delayMs: Math.min(entry.delayMs * 2, mostMs), setMs: nowMs };
}

function isExpired({ setMs }: BackoffEntry, endedMs: number): boolean {
  return endedMs - setMs > 2 * mostMs;
}

/** As Go prints a duration of whole seconds: 10s, 1m20s, 5m0s. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
