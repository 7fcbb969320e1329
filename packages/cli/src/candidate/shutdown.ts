/**
 * Signals for commands without a child. The first SIGINT or SIGTERM asks the command to stop; a later one ends it at once. SIGHUP
 * asks it to stop too: its default action would end the process while it holds the lease.
 */
import { isAbortOf } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { Platform } from "../platform.ts";
import { candidateShutdown } from "../signals.ts";
import { failureOf } from "./failure.ts";

/** Runs the work until it ends or a signal aborts it. Errors that only report that abort are ignored. */
export async function untilShutdown(
  platform: Platform,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // A second signal means: do not wait for a server that does not answer.
  const { signal, request, dispose } = candidateShutdown(platform, () => platform.exit(1));
  const stopListening = platform.onSignal("SIGHUP", request);
  try {
    await work(signal);
  } catch (error) {
    if (!isShutdown(signal, error)) throw failureOf(error);
  } finally {
    stopListening();
    dispose();
  }
}

/** Whether the error only reports that the signal aborted. */
export function isShutdown(signal: AbortSignal, error: unknown): boolean {
  if (signal.aborted && error instanceof KubeError) return error.code === "Aborted";
  return isAbortOf(signal, error);
}
