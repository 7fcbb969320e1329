/** Decides when a child that ended is restarted: at once, then after 1, 2, 4 … 30 s, until it was restarted too often. Pure. */
import { backoffMs } from "@tenure/base";

interface RestartPolicy {
  readonly maxRestarts: number;
  readonly windowMs: number;
  readonly stableAfterMs: number;
}

export interface RestartHistory {
  /** When the restarts within the window were decided. */
  readonly atMs: readonly number[];
  /** How many restarts there were since a child was last stable. */
  readonly inARow: number;
}

type RestartDecision =
  | { readonly type: "restart"; readonly delayMs: number; readonly history: RestartHistory }
  | { readonly type: "give-up"; readonly inWindow: number };

export const noRestarts: RestartHistory = { atMs: [], inARow: 0 };

/** Without jitter: only one replica restarts its child. */
export const restartBackoff = { firstMs: 1_000, mostMs: 30_000, jitter: 0 };

/** @param ranMs how long the child ran */
export function decideRestart(
  policy: RestartPolicy,
  history: RestartHistory,
  nowMs: number,
  ranMs: number,
): RestartDecision {
  const recent = history.atMs.filter((atMs) => atMs > nowMs - policy.windowMs);
  if (recent.length >= policy.maxRestarts) return { type: "give-up", inWindow: recent.length };
  const inARow = ranMs >= policy.stableAfterMs ? 0 : history.inARow;
  return {
    type: "restart",
    delayMs: backoffMs(restartBackoff, inARow, 0),
    history: { atMs: [...recent, nowMs], inARow: inARow + 1 },
  };
}
