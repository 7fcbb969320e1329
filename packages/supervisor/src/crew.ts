/** Everything that serves one run, put together once; the parts do not know each other. */
import type { Clock, Instant } from "@tenure/base";
import type { StintEnd } from "./after.ts";
import type { DeadlineFile } from "./deadline-file.ts";
import type { ChildEvent, HealthEvent } from "./events.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import type { TermLike } from "./office.ts";
import type { PhaseEvent } from "./phase.ts";
import type { ProcessManager } from "./process/manager.ts";
import type { Program } from "./process/spawn.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import type { Watchdog } from "./watchdog/watchdog.ts";

export interface Crew {
  readonly options: ResolvedOptions;
  readonly clock: Clock;
  readonly manager: ProcessManager;
  readonly watchdog: Watchdog;
  readonly gates: Gatekeeper;
  readonly deadlineFile: DeadlineFile;
  /** Aborts and is replaced when the watchdog is gone for good. */
  readonly unguarded: () => AbortSignal;
  readonly programFor: (term: TermLike) => Program;
  readonly enter: (event: PhaseEvent) => void;
  readonly onChild: (event: ChildEvent) => void;
  readonly onHealth: (event: HealthEvent) => void;
  /** Ends the run with the exit code of what happened. */
  readonly exit: (end: StintEnd) => void;
}

/**
 * Until when the term's work may run. The clock is asked first: whoever is frozen between the two questions gets a deadline
 * that is too soon, never one that is too late.
 */
export function deadlineOf(term: TermLike, clock: Clock): Instant {
  const now = clock.now();
  const remainingMs = term.remainingMs();
  return { monoMs: now.monoMs + remainingMs, wallMs: now.wallMs + remainingMs };
}

/** Tells the watchdog and the child until when they may go on. Resolves when the child can read it. */
export function tellDeadline(
  { watchdog, deadlineFile, options, clock }: Crew,
  term: TermLike,
): Promise<void> {
  const at = deadlineOf(term, clock);
  const { killMarginMs } = options;
  watchdog.setDeadline({ monoMs: at.monoMs - killMarginMs, wallMs: at.wallMs - killMarginMs });
  return deadlineFile.write(at, term.token);
}

/** The watchdog is for when we cannot: we come first. */
const beforeWatchdogMs = 25;

/** How long the child may take to stop, as the term stands now. */
export function timeToStopMs({ options }: Crew, term: TermLike): number {
  if (term.expired.aborted || !term.isValid()) return 0;
  if (term.lost.aborted) return Math.max(0, term.remainingMs() - options.killMarginMs - beforeWatchdogMs);
  return options.stopTimeoutMs;
}
