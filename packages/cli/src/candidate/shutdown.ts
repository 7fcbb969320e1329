/** SIGINT and SIGTERM for commands without a child. The first asks the command to stop; the second ends it at once. */
import { isAbortOf, shutdownOn } from "@tenure/base";
import { KubeError } from "@tenure/kube";
import type { Platform } from "../platform.ts";
import { failureOf } from "./failure.ts";

/** Runs the work until it ends or a signal aborts it. Errors that only report that abort are ignored. */
export async function untilShutdown(
  platform: Platform,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // A second signal means: do not wait for a server that does not answer.
  const { signal, dispose } = shutdownOn(platform, () => platform.exit(1));
  try {
    await work(signal);
  } catch (error) {
    if (!isShutdown(signal, error)) throw failureOf(error);
  } finally {
    dispose();
  }
}

/** Whether the error only reports that the signal aborted. */
export function isShutdown(signal: AbortSignal, error: unknown): boolean {
  if (signal.aborted && error instanceof KubeError) return error.code === "Aborted";
  return isAbortOf(signal, error);
}
