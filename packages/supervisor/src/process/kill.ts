/**
 * Kills a process tree until no process is left. Stops only after two empty scans in a row: a scan takes time, and may miss a
 * process that is started during the scan by a parent that dies before the scan reaches it.
 *
 * Does not promise to end: a process in uninterruptible sleep dies when the kernel lets it.
 */
import { type Clock, sleep } from "@tenure/base";
import type { ProcessTree } from "./process-tree.ts";

interface KillOptions {
  readonly clock: Clock;
  /** Keeps scanning for at least this long, for processes that are just being started. @default 0 */
  readonly atLeastMs?: number;
  /** Whether to stop although processes may be left. */
  readonly shouldGiveUp?: () => boolean;
  /** Called with the processes that were killed for the first time. */
  readonly onKill?: (pids: readonly number[]) => void;
  /** Called with the processes that still run, after one second and then every 30 s. */
  readonly onStuck?: (pids: readonly number[], sinceMs: number) => void;
}

const stuckAfterMs = 1_000;
const stuckAgainMs = 30_000;
const firstPauseMs = 2;
const longestPauseMs = 100;

/** Resolves with the number of processes that were killed. */
export async function killUntilGone(tree: ProcessTree, options: KillOptions): Promise<number> {
  const { clock, atLeastMs = 0 } = options;
  const startedMs = clock.now().monoMs;
  const killed = new Set<number>();
  let emptyScans = 0;
  let pauseMs = firstPauseMs;
  let nextStuckMs = startedMs + stuckAfterMs;
  while (!options.shouldGiveUp?.()) {
    const members = tree.kill();
    const fresh = members.filter((pid) => !killed.has(pid));
    for (const pid of fresh) killed.add(pid);
    if (fresh.length > 0) options.onKill?.(fresh);
    emptyScans = members.length === 0 ? emptyScans + 1 : 0;
    const nowMs = clock.now().monoMs;
    if (emptyScans >= 2 && nowMs >= startedMs + atLeastMs) return killed.size;
    if (members.length > 0 && nowMs >= nextStuckMs) {
      options.onStuck?.(members, nowMs - startedMs);
      nextStuckMs = nowMs + stuckAgainMs;
    }
    await sleep(clock, pauseMs);
    // A tree that keeps starting processes gets no time to start more.
    pauseMs = fresh.length > 0 ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs);
  }
  return killed.size;
}
