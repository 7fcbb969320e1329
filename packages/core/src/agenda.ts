/**
 * What the candidate does next, and when. This is the only place that decides by time. `step` runs the tasks that are due,
 * and the caller sets a single timer to the earliest one, so that a candidate acts at the exact moment without polling (G4).
 */
import type { Instant } from "@tenure/base";
import { dueMs } from "./instant.ts";
import { heldUntilMs, isAskedToTakeOver, leaseDurationMs, mayAcquireAtMs } from "./queries.ts";
import { renewEarlyMs } from "./timings.ts";
import type { Config, State } from "./types.ts";

export type Task =
  | "time-out-request"
  | "stop"
  | "read"
  | "accept"
  | "acquire"
  | "renew"
  | "renew-deadline"
  | "stop-timeout"
  | "hard-deadline"
  | "release"
  | "give-up-release";

interface AgendaEntry {
  /** When the caller wakes the candidate for it. */
  readonly atMs: number;
  /** From when on it may be run if the candidate is awake anyway. */
  readonly fromMs: number;
  readonly task: Task;
}

/** A watch may be broken if it is silent for this part of the holder's lease: a holder renews several times in it. */
const maxSilence = 1 / 3;

/** The entries, in the order in which they run if several are due. Deadlines come before requests that depend on them. */
export function agenda(config: Config, state: State, at: Instant): AgendaEntry[] {
  const { phase, inFlight } = state;
  const { timings } = config;
  const entries: AgendaEntry[] = [];
  const add = (task: Task, atMs: number, fromMs = atMs) => entries.push({ atMs, fromMs, task });

  if (phase.name === "leading" || phase.name === "draining") {
    add("renew-deadline", dueMs(phase.term.sent, timings.renewDeadlineMs, at));
  }
  // Work that ignores its signal would otherwise keep the lock for as long as the process lives.
  if (phase.name === "draining" && Number.isFinite(phase.untilMs)) add("stop-timeout", phase.untilMs);
  if (phase.name === "lost" && !phase.overrun) {
    add("hard-deadline", dueMs(phase.term.sent, timings.hardDeadlineMs, at));
  }
  if (phase.name === "releasing") {
    // From then on another candidate may acquire the lock, so it is left to expire.
    add("give-up-release", dueMs(phase.term.sent, timings.hardDeadlineMs, at));
  }
  if (inFlight) {
    add("time-out-request", inFlight.timeoutAtMs);
    return entries;
  }
  switch (phase.name) {
    case "campaigning": {
      if (state.stopping) {
        add("stop", at.monoMs);
        break;
      }
      const mayAcquireAt = mayAcquireAtMs(config, state);
      if (state.mustRead || mayAcquireAt === undefined) {
        add("read", state.retryAtMs);
        break;
      }
      const acceptAtMs = mayAcceptAtMs(config, state, phase.notBeforeMs, at);
      if (acceptAtMs !== undefined) add("accept", acceptAtMs);
      add("acquire", Math.max(mayAcquireAt + phase.staggerMs, phase.notBeforeMs, state.retryAtMs));
      add("read", Math.max(state.lastContactMs + maxSilenceMs(config, state), state.retryAtMs));
      break;
    }
    case "leading":
    case "draining":
      if (state.mustRead) add("read", state.retryAtMs);
      else {
        const renewAtMs = dueMs(phase.term.sent, timings.renewIntervalMs, at);
        const notBeforeMs = Math.max(renewAtMs - renewEarlyMs(timings), state.retryAtMs);
        add("renew", Math.max(renewAtMs, state.retryAtMs), notBeforeMs);
      }
      break;
    case "releasing":
      add(state.mustRead ? "read" : "release", state.retryAtMs);
      break;
  }
  return entries;
}

/**
 * When this candidate may accept a transfer to it: not before it could lead itself, because the holder steps down for it. Once
 * the holder's lease has expired, it acquires the lock instead.
 */
function mayAcceptAtMs(config: Config, state: State, notBeforeMs: number, at: Instant): number | undefined {
  const { lock } = state;
  if (lock.kind !== "present" || !isAskedToTakeOver(config, lock.view)) return undefined;
  const fromMs = Math.max(notBeforeMs, state.vanishedHolderUntilMs, state.retryAtMs);
  return Math.max(fromMs, at.monoMs) < heldUntilMs(config, lock) ? fromMs : undefined;
}

/**
 * The monotonic time at which the caller must send a "tick" if no other event happens before. Candidates whose renewals may be sent
 * together get the same time: a multiple of `renewEarlyMs`.
 */
export function nextWakeMs(config: Config, state: State, at: Instant): number {
  let wakeMs = Number.POSITIVE_INFINITY;
  let notBeforeMs = Number.POSITIVE_INFINITY;
  for (const { atMs, fromMs } of agenda(config, state, at)) {
    wakeMs = Math.min(wakeMs, atMs);
    notBeforeMs = Math.min(notBeforeMs, fromMs);
  }
  if (notBeforeMs >= wakeMs) return wakeMs;
  const stepMs = renewEarlyMs(config.timings);
  return Math.max(Math.floor(wakeMs / stepMs) * stepMs, notBeforeMs);
}

/** How long a waiting candidate relies on the watch before it reads the lock. Without a watch, how often it polls. */
function maxSilenceMs(config: Config, state: State): number {
  const { timings } = config;
  if (!state.watchUp) return timings.retryPeriodMs;
  const isHeld = state.lock.kind === "present" && state.lock.view.record.holderIdentity !== "";
  const leaseMs = isHeld ? leaseDurationMs(config, state.lock.view.record) : timings.leaseDurationMs;
  return Math.max(leaseMs * maxSilence, timings.retryPeriodMs);
}
