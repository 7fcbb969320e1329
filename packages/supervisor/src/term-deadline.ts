/** Until when the work of a term may run, and how long a child may take to stop. */
import type { Clock, Instant } from "@tenure/base";
import type { SupervisedTerm } from "./election-seam.ts";
import type { RunContext } from "./run-context.ts";

/**
 * Reads the clock before it asks for the remaining time. A process that is frozen between the two gets a deadline that is too
 * early, never one that is too late.
 */
export function deadlineOf(term: SupervisedTerm, clock: Clock): Instant {
  const now = clock.now();
  const remainingMs = term.remainingMs();
  return { monoMs: now.monoMs + remainingMs, wallMs: now.wallMs + remainingMs };
}

/** Sends the deadline to the watchdog and writes it for the child. Resolves when the child can read it. */
export function publishDeadline(
  { watchdog, deadlineFile, options, clock }: RunContext,
  term: SupervisedTerm,
): Promise<void> {
  const at = deadlineOf(term, clock);
  const { killMarginMs } = options;
  watchdog.setDeadline({ monoMs: at.monoMs - killMarginMs, wallMs: at.wallMs - killMarginMs });
  return deadlineFile.write(at, term.token);
}

/** The supervisor kills this much earlier than the watchdog, which acts only if the supervisor cannot. */
const beforeWatchdogMs = 25;

/** How long the child may take to stop in the present state of the term. */
export function timeToStopMs({ options }: RunContext, term: SupervisedTerm): number {
  if (term.expired.aborted || !term.isValid()) return 0;
  if (term.lost.aborted) return Math.max(0, term.remainingMs() - options.killMarginMs - beforeWatchdogMs);
  return options.stopTimeoutMs;
}
