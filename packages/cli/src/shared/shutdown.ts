/** Ctrl-C and SIGTERM, for commands that take part without a child. The first asks to leave, the second does not wait for that. */
import type { Platform } from "../platform.ts";
import { failureOf } from "./failure.ts";

/** Runs until it ends or was asked to; what then fails because it was asked to is no failure. */
export async function untilShutdown(
  platform: Platform,
  run: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const shutdown = new AbortController();
  const forget = (["SIGINT", "SIGTERM"] as const).map((signal) =>
    platform.onSignal(signal, () => {
      // Who asks twice does not want to wait for a server that does not answer.
      if (shutdown.signal.aborted) platform.exit(1);
      shutdown.abort();
    }),
  );
  try {
    await run(shutdown.signal);
  } catch (error) {
    if (!shutdown.signal.aborted || !isAbort(error)) throw failureOf(error);
  } finally {
    for (const end of forget) end();
  }
}

function isAbort(error: unknown): boolean {
  return (
    error instanceof Error && ((error as { code?: string }).code === "Aborted" || error.name === "AbortError")
  );
}
