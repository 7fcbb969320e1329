/** Turns the signals that ask a process to stop into one AbortSignal. */

export interface SignalSource {
  /** Calls back for each such signal, instead of the signal's default action. The returned function undoes it. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void;
}

export interface Shutdown {
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Stops listening. The signals get their default action back. */
  dispose(): void;
}

/** @param onRepeat called for every further SIGINT or SIGTERM: somebody does not want to wait any longer */
export function shutdownOn(source: SignalSource, onRepeat: () => void = () => {}): Shutdown {
  const controller = new AbortController();
  const cleanups = (["SIGINT", "SIGTERM"] as const).map((signal) =>
    source.onSignal(signal, () => {
      if (controller.signal.aborted) onRepeat();
      else controller.abort();
    }),
  );
  return {
    signal: controller.signal,
    dispose() {
      for (const cleanup of cleanups) cleanup();
    },
  };
}
