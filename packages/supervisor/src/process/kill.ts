/**
 * Kills a family until nobody is left. Two empty looks in a row are needed: a look takes a moment in which somebody not yet
 * seen may have been born of somebody who is dead by now.
 *
 * Does not promise an end: a process in uninterruptible sleep dies when the kernel lets it, and is waited for.
 */
import type { Clock } from "@tenure/base";
import type { Family } from "./family.ts";

export interface KillOptions {
  readonly clock: Clock;
  /** Goes on looking for at least so long, for those who are being born. @default 0 */
  readonly atLeastMs?: number;
  /** Whether to leave it; what is left is not known then. */
  readonly isGivenUp?: () => boolean;
  /** Killed for the first time. */
  readonly onKill?: (pids: readonly number[]) => void;
  /** They were killed so long ago and are still there. Told once a period. */
  readonly onStuck?: (pids: readonly number[], sinceMs: number) => void;
}

export const stuckAfterMs = 1_000;
const stuckAgainMs = 30_000;
const firstPauseMs = 2;
const longestPauseMs = 100;

/** How many were killed. */
export async function killUntilGone(family: Family, options: KillOptions): Promise<number> {
  const { clock, atLeastMs = 0 } = options;
  const startedMs = clock.now().monoMs;
  const killed = new Set<number>();
  let emptyLooks = 0;
  let pauseMs = firstPauseMs;
  let nextStuckMs = startedMs + stuckAfterMs;
  while (!options.isGivenUp?.()) {
    const members = family.kill();
    const fresh = members.filter((pid) => !killed.has(pid));
    for (const pid of fresh) killed.add(pid);
    if (fresh.length > 0) options.onKill?.(fresh);
    emptyLooks = members.length === 0 ? emptyLooks + 1 : 0;
    const nowMs = clock.now().monoMs;
    if (emptyLooks >= 2 && nowMs >= startedMs + atLeastMs) return killed.size;
    if (members.length > 0 && nowMs >= nextStuckMs) {
      options.onStuck?.(members, nowMs - startedMs);
      nextStuckMs = nowMs + stuckAgainMs;
    }
    await sleep(clock, pauseMs);
    // Whoever goes on bringing up new ones is not given time for more.
    pauseMs = fresh.length > 0 ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
  }
  return killed.size;
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.at(clock.now().monoMs + ms, resolve));
}
