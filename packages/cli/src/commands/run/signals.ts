/**
 * What signals mean to `tenure run`. The first SIGTERM or SIGINT asks it to stop, in every phase. The next one kills the child
 * without waiting any longer. SIGHUP, SIGUSR1 and SIGUSR2 are forwarded to the child.
 */
import { shutdownOn } from "@tenure/base";
import type { Supervisor } from "@tenure/supervisor";
import type { Platform } from "../../platform.ts";

type Receiver = Pick<Supervisor, "forward" | "hurry">;

export interface Signals {
  /** Aborts at the first signal that asks to stop. */
  readonly shutdown: AbortSignal;
  /** Passes further signals to the supervisor. The returned function stops that. */
  connect(supervisor: Receiver): () => void;
  /** Stops listening. The signals get their default action back. */
  dispose(): void;
}

export function listenToSignals(platform: Platform): Signals {
  let supervisor: Receiver | undefined;
  const shutdown = shutdownOn(platform, () => supervisor?.hurry());
  const cleanups = (["SIGHUP", "SIGUSR1", "SIGUSR2"] as const).map((signal) =>
    platform.onSignal(signal, () => supervisor?.forward(signal)),
  );
  return {
    shutdown: shutdown.signal,
    connect(connected) {
      supervisor = connected;
      return () => {
        supervisor = undefined;
      };
    },
    dispose() {
      shutdown.dispose();
      for (const cleanup of cleanups) cleanup();
    },
  };
}
