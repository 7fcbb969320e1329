/** What can be asked of a state at a moment. Each answer asks the clock, never a flag that somebody had to set in time. */
import type { Instant } from "@tenure/base";
import { elapsedMs } from "./instant.ts";
import { isRelease, type LeaderRecord, type LockView, type Orders, sameRecord } from "./record.ts";
import type { Attempt, Config, Knowledge, State, Term } from "./types.ts";

/** The term that is being served, or whose work has not been reported stopped yet. */
export function termOf(state: State): Term | undefined {
  const { phase } = state;
  return phase.name === "idle" || phase.name === "campaigning" || phase.name === "releasing"
    ? undefined
    : phase.term;
}

/** Until when the term's work may run: the sooner of the two readings. Undefined when it may not run at all. */
export function validUntil(config: Config, state: State): Instant | undefined {
  const { phase } = state;
  if (phase.name !== "leading" && phase.name !== "draining" && phase.name !== "lost") return undefined;
  if (phase.name === "lost" && !phase.valid) return undefined;
  const { monoMs, wallMs } = phase.term.sent;
  const { hardDeadlineMs } = config.timings;
  return { monoMs: monoMs + hardDeadlineMs, wallMs: wallMs + hardDeadlineMs };
}

/** Whether the term's work may run at this very moment (G1). */
export function mayWork(config: Config, state: State, at: Instant): boolean {
  return isBefore(at, validUntil(config, state));
}

/** Whether neither clock has reached the end. */
export function isBefore(at: Instant, end: Instant | undefined): boolean {
  return end !== undefined && at.monoMs < end.monoMs && at.wallMs < end.wallMs;
}

/** Who leads, as far as this candidate can know: a holder whose time has run out is nobody. */
export function leaderAt(config: Config, state: State, at: Instant): string | undefined {
  const { phase, lock } = state;
  if (phase.name === "leading" || phase.name === "draining" || phase.name === "releasing") {
    return elapsedMs(phase.term.sent, at) < config.timings.leaseDurationMs ? config.identity : undefined;
  }
  if (lock.kind !== "present" || lock.view.record.holderIdentity === "") return undefined;
  if (attemptOf(state, lock.view.record)) return undefined;
  return at.monoMs < heldUntilMs(config, lock) ? lock.view.record.holderIdentity : undefined;
}

/** The write of this process that put the record there, if one did. */
export function attemptOf(state: State, record: LeaderRecord): Attempt | undefined {
  return state.attempts.find((attempt) => sameRecord(attempt.record, record));
}

/** Until when the holder of this lock may be working, counted from when we learned of it, by our own clock. */
export function heldUntilMs(config: Config, lock: Knowledge & { kind: "present" }): number {
  return lock.sinceMs + durationMs(config, lock.view.record);
}

/** The duration that the holder wrote; without a usable one (0 too, which nobody can mean), our own. */
export function durationMs(config: Config, record: LeaderRecord): number {
  const seconds = record.leaseDurationSeconds;
  return seconds !== undefined && seconds > 0 ? seconds * 1_000 : config.timings.leaseDurationMs;
}

/** Whether an operator wants the leader of this lock to stop, if that is the candidate with this configuration. */
export function isToldToStepDown(config: Config, { record, orders }: LockView): boolean {
  if (orders === undefined) return false;
  return (
    orders.paused === true ||
    orders.stepDown === record.leaseTransitions ||
    isForAnother(config, record, orders)
  );
}

/** How much longer than it must this candidate waits, because an operator said so: Infinity while nobody is to lead. */
function orderedToWaitMs(config: Config, { record, orders }: LockView): number {
  if (orders === undefined) return 0;
  if (orders.paused) return Number.POSITIVE_INFINITY;
  // One whole lease for the chosen one; if it does not come, anybody is better than nobody.
  return isForAnother(config, record, orders) ? config.timings.leaseDurationMs : 0;
}

function isForAnother(config: Config, record: LeaderRecord, { transfer }: Orders): boolean {
  return transfer?.transitions === record.leaseTransitions && transfer.to !== config.identity;
}

/** From when on this candidate may write itself into the lock; undefined while it does not know the lock. */
export function mayTakeAtMs(config: Config, state: State): number | undefined {
  const { lock } = state;
  switch (lock.kind) {
    case "unknown":
      return undefined;
    case "absent": {
      const unseenHolderMs = config.waitWhenAbsent ? config.timings.leaseDurationMs : 0;
      return Math.max(state.vanishedHolderUntilMs, lock.sinceMs + unseenHolderMs);
    }
    case "present": {
      const { record } = lock.view;
      // A record that this very process wrote is nobody's: its own term is over, and anybody else's would have replaced it.
      const isNobodys = isRelease(record) || attemptOf(state, record) !== undefined;
      const freeAtMs = isNobodys ? lock.sinceMs : heldUntilMs(config, lock);
      return Math.max(state.vanishedHolderUntilMs, freeAtMs) + orderedToWaitMs(config, lock.view);
    }
  }
}
