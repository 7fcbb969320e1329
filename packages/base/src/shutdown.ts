/** Turns the signals that ask a process to stop into one AbortSignal. */
import type { Clock } from "./clock.ts";

export interface SignalSource {
  /** Calls back for each such signal, instead of the signal's default action. The returned function undoes it. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void;
}

export interface Shutdown {
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Aborts for another reason than a signal. */
  request(): void;
  /** Stops listening. The signals get their default action back. */
  dispose(): void;
}

/**
 * Signals that arrive within this time of the first one count as one request. `timeout` signals its child and its process group;
 * Ctrl-C reaches npx and its child, and npx passes it on.
 */
export const sameRequestMs = 500;

/**
 * @param onRepeat called for every further SIGINT or SIGTERM: somebody does not want to wait any longer
 * @param clock recognizes signals that belong to the first one; without it, every further signal is a repetition
 */
export function shutdownOn(source: SignalSource, onRepeat: () => void = () => {}, clock?: Clock): Shutdown {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const onStop = () => {
    const nowMs = clock?.now().monoMs ?? 0;
    if (firstMs !== undefined && clock && nowMs < firstMs + sameRequestMs) return;
    if (firstMs !== undefined) onRepeat();
    firstMs ??= nowMs;
    controller.abort();
  };
  const cleanups = (["SIGINT", "SIGTERM"] as const).map((signal) => source.onSignal(signal, onStop));
  return {
    signal: controller.signal,
    request: () => controller.abort(),
    dispose() {
      for (const cleanup of cleanups) cleanup();
    },
  };
}
