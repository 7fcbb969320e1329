/** What asks a command to stop: signals, the end of its terminal, and the end of npm if npm started it. */
import { after, onAbort, type Shutdown, sameRequestMs, shutdownOn } from "@tenure/base";
import { watchParent } from "./parent-watch.ts";
import type { Platform } from "./platform.ts";

/** Resolves when the signal aborts. */
export function onceAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/** Aborts at the first signal. A later one gets its default action, which ends the process. */
export function firstSignal(platform: Pick<Platform, "onSignal" | "backgroundClock">): Shutdown {
  const shutdown = shutdownOn(platform);
  // Not at once: the same request may arrive twice.
  onAbort(shutdown.signal, () => after(platform.backgroundClock, sameRequestMs, shutdown.dispose));
  return shutdown;
}

/**
 * For commands that take part in an election. Aborts at the first SIGINT or SIGTERM, and when npm ends that started the command.
 * @param onRepeat called for every further SIGINT or SIGTERM, but not for those that arrive together with the first
 */
export function candidateShutdown(platform: Platform, onRepeat: () => void): Shutdown {
  const shutdown = shutdownOn(platform, onRepeat, platform.clock);
  const stopWatching = watchParent(platform, shutdown.request);
  return {
    ...shutdown,
    dispose() {
      stopWatching();
      shutdown.dispose();
    },
  };
}
