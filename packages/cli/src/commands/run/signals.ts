/**
 * What signals mean to `tenure run`. The first SIGTERM or SIGINT asks to stop, in whatever phase; the next one does not wait
 * for the child any longer. SIGHUP, SIGUSR1 and SIGUSR2 are the child's.
 */
import type { Supervisor } from "@tenure/supervisor";
import type { Platform } from "../../platform.ts";

export interface Signals {
  /** Aborts at the first signal that asks to stop. */
  readonly shutdown: AbortSignal;
  /** From now on the supervisor is told. The result ends it. */
  connect(supervisor: Pick<Supervisor, "forward" | "hurry">): () => void;
  /** Signals do again what they do without us. */
  forget(): void;
}

export function takeSignals(platform: Platform): Signals {
  const shutdown = new AbortController();
  let supervisor: Pick<Supervisor, "forward" | "hurry"> | undefined;
  const stops = (["SIGTERM", "SIGINT"] as const).map((signal) =>
    platform.onSignal(signal, () => {
      if (shutdown.signal.aborted) supervisor?.hurry();
      else shutdown.abort();
    }),
  );
  const passed = (["SIGHUP", "SIGUSR1", "SIGUSR2"] as const).map((signal) =>
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
    forget() {
      for (const end of [...stops, ...passed]) end();
    },
  };
}
