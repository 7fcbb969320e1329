/** When a child that ended is started again: at once, then after 1, 2, 4 … 30 s; and when it is not, for now. Pure. */

export interface RestartPolicy {
  readonly maxRestarts: number;
  readonly windowMs: number;
  readonly stableAfterMs: number;
}

export interface RestartHistory {
  /** When the restarts within the window were decided. */
  readonly atMs: readonly number[];
  /** How many in a row did not last. */
  readonly inARow: number;
}

export type RestartDecision =
  | { readonly type: "restart"; readonly delayMs: number; readonly history: RestartHistory }
  | { readonly type: "give-up"; readonly inWindow: number };

export const noRestarts: RestartHistory = { atMs: [], inARow: 0 };

const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;

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
    delayMs: backOffMs(inARow),
    history: { atMs: [...recent, nowMs], inARow: inARow + 1 },
  };
}

/** Before the first restart in a row, the second, the third … */
export function backOffMs(inARow: number): number {
  return inARow === 0 ? 0 : Math.min(firstBackOffMs * 2 ** (inARow - 1), longestBackOffMs);
}
