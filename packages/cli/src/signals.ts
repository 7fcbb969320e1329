/** Waiting for signals that ask a command to stop. */
import { onAbort, type Shutdown, type SignalSource, shutdownOn } from "@tenure/base";

/** Resolves when the signal aborts. */
export function onceAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/** Aborts at the first signal. The next one gets its default action, which ends the process. */
export function firstSignal(source: SignalSource): Shutdown {
  const shutdown = shutdownOn(source);
  onAbort(shutdown.signal, shutdown.dispose);
  return shutdown;
}
