/**
 * What signals mean to `tenure run`. The first SIGTERM or SIGINT asks it to stop, in every phase. A later one kills the child
 * without waiting any longer. SIGUSR1 and SIGUSR2 are forwarded to the child. SIGHUP means that the terminal was closed, if there
 * is one; without a terminal it is forwarded, because daemons reload their configuration then.
 */
import type { Supervisor } from "@tenure/supervisor";
import type { Platform } from "../../platform.ts";
import { candidateShutdown } from "../../signals.ts";

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
  const shutdown = candidateShutdown(platform, () => supervisor?.hurry());
  // nohup redirects all three, and wants the program to outlive the terminal.
  const hasTerminal = platform.isTerminal || platform.isErrorTerminal || platform.isInputTerminal;
  const cleanups = (["SIGHUP", "SIGUSR1", "SIGUSR2"] as const).map((signal) =>
    platform.onSignal(signal, () => {
      if (signal === "SIGHUP" && hasTerminal) shutdown.request();
      else supervisor?.forward(signal);
    }),
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
