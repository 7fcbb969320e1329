/** Questions about a state at a given moment. Each answer depends on the clock, not on a flag that must be set in time. */
import type { Instant } from "@tenure/base";
import { elapsedMs } from "./instant.ts";
import { isRelease, type LeaderRecord, type LockView, type Orders, sameRecord } from "./record.ts";
import type { Config, ObservedLock, OwnWrite, State, Term } from "./types.ts";

/** The current term, until its work is reported as stopped. */
export function termOf(state: State): Term | undefined {
  const { phase } = state;
  return "term" in phase && phase.name !== "releasing" ? phase.term : undefined;
}

/**
 * When the term's work must have stopped, by whichever clock gets there first. Undefined if it must not run at all.
 * Work may run only while `isBefore` this end (G1).
 */
export function validUntil(config: Config, state: State): Instant | undefined {
  const { phase } = state;
  if (phase.name !== "leading" && phase.name !== "draining" && phase.name !== "lost") return undefined;
  if (phase.name === "lost" && !phase.valid) return undefined;
  const { monoMs, wallMs } = phase.term.sent;
  const { hardDeadlineMs } = config.timings;
  return { monoMs: monoMs + hardDeadlineMs, wallMs: wallMs + hardDeadlineMs };
}

/** Whether neither clock has reached the end. False if there is none. */
export function isBefore(at: Instant, end: Instant | undefined): boolean {
  return end !== undefined && at.monoMs < end.monoMs && at.wallMs < end.wallMs;
}

/** The leader as far as this candidate knows. A holder whose lease has expired does not count. */
export function leaderAt(config: Config, state: State, at: Instant): string | undefined {
  const { phase, lock } = state;
  if (phase.name === "leading" || phase.name === "draining" || phase.name === "releasing") {
    return elapsedMs(phase.term.sent, at) < config.timings.leaseDurationMs ? config.identity : undefined;
  }
  if (lock.kind !== "present" || lock.view.record.holderIdentity === "") return undefined;
  if (ownWriteOf(state, lock.view.record) || isNamed(config, lock.view)) return undefined;
  return at.monoMs < heldUntilMs(config, lock) ? lock.view.record.holderIdentity : undefined;
}

/** The write of this process that put the record into the lock. Undefined if another process wrote the record. */
export function ownWriteOf(state: State, record: LeaderRecord): OwnWrite | undefined {
  return state.ownWrites.find((write) => sameRecord(write.record, record));
}

/** Until when the holder may be working, by our own clock, counted from when we learned of its record. */
export function heldUntilMs(config: Config, lock: ObservedLock & { kind: "present" }): number {
  return lock.sinceMs + leaseDurationMs(config, lock.view.record);
}

/** The lease duration in the record, or our own if the record has no positive one. */
export function leaseDurationMs(config: Config, record: LeaderRecord): number {
  const seconds = record.leaseDurationSeconds;
  return seconds !== undefined && seconds > 0 ? seconds * 1_000 : config.timings.leaseDurationMs;
}

/** Whether an operator's order tells this candidate to step down, if it is the leader. */
export function isOrderedToStepDown(config: Config, view: LockView): boolean {
  const { record, orders } = view;
  if (isAnotherPreferred(config, view)) return true;
  if (orders === undefined) return false;
  return (
    orders.paused === true ||
    orders.stepDown === record.leaseTransitions ||
    isTransferToAnother(config, record, orders)
  );
}

/** Whether the API server wants another candidate to lead, in a coordinated election. */
function isAnotherPreferred({ coordinated, identity }: Config, { preferredHolder = "" }: LockView): boolean {
  return coordinated === true && preferredHolder !== "" && preferredHolder !== identity;
}

/**
 * Whether the API server has named a leader in a coordinated election, and no process has acquired the lock since. The server leaves
 * acquireTime empty, and every candidate sets it.
 */
export function isNaming({ record }: LockView): boolean {
  return record.holderIdentity !== "" && record.acquireTime === undefined;
}

/** Whether the API server has named this candidate. */
export function isNamed({ coordinated, identity }: Config, view: LockView): boolean {
  return coordinated === true && view.record.holderIdentity === identity && isNaming(view);
}

/** The extra wait that an operator ordered. Infinity while the election is paused. */
function orderedWaitMs(config: Config, { record, orders }: LockView): number {
  if (orders === undefined) return 0;
  if (orders.paused) return Number.POSITIVE_INFINITY;
  // The chosen candidate has one lease to acquire the lock. After that any leader is better than none.
  return isTransferToAnother(config, record, orders) ? config.timings.leaseDurationMs : 0;
}

/** Whether another candidate has accepted to take over from the leader of this record. */
function isTransferToAnother(config: Config, record: LeaderRecord, { transfer }: Orders): boolean {
  return (
    transfer?.accepted === true &&
    transfer.transitions === record.leaseTransitions &&
    transfer.to !== config.identity
  );
}

/** Whether an operator asks this candidate to take over from the holder, and it has not accepted yet. */
export function isAskedToTakeOver(config: Config, { record, orders }: LockView): boolean {
  const { transfer, paused } = orders ?? {};
  // In a coordinated election the API server would name another candidate again.
  if (config.coordinated) return false;
  // A lock that is free, or that is paused, is not handed over. Nor is there a handover to the holder itself.
  if (!transfer || transfer.accepted || paused) return false;
  const isHeldByAnother = record.holderIdentity !== "" && record.holderIdentity !== config.identity;
  return (
    isHeldByAnother && transfer.transitions === record.leaseTransitions && transfer.to === config.identity
  );
}

/** The earliest time at which this candidate acquires the lock. Undefined while the state of the lock is unknown. */
export function mayAcquireAtMs(config: Config, state: State): number | undefined {
  const { lock } = state;
  if (config.coordinated) return lock.kind === "unknown" ? undefined : namedAtMs(config, state);
  const freeAtMs = lockFreeAtMs(config, state);
  const { acquireDelayMs = 0 } = config;
  const isChosen = lock.kind === "present" && isTransferToThis(config, lock.view);
  return freeAtMs === undefined || isChosen ? freeAtMs : freeAtMs + acquireDelayMs;
}

/**
 * The earliest time at which this candidate acquires the lock in a coordinated election. Infinity until the API server names it. The
 * server compares its clock with the holder's. This candidate does not rely on that: it also waits until the lease of the last holder
 * that it has seen has expired by its own clock (G1).
 */
function namedAtMs(config: Config, state: State): number {
  const { lock } = state;
  if (lock.kind !== "present" || !isNamed(config, lock.view) || isAnotherPreferred(config, lock.view))
    return Number.POSITIVE_INFINITY;
  if (lock.view.orders?.paused) return Number.POSITIVE_INFINITY;
  return Math.max(state.vanishedHolderUntilMs, lock.sinceMs);
}

/** Until when the holder of this record may be working, as far as this candidate knows. */
export function blockedUntilMs(
  config: Config,
  state: State,
  lock: ObservedLock & { kind: "present" },
): number {
  const { record } = lock.view;
  const blocksNobody =
    isRelease(record) || isNamed(config, lock.view) || ownWriteOf(state, record) !== undefined;
  return blocksNobody ? Number.NEGATIVE_INFINITY : heldUntilMs(config, lock);
}

/** Whether this candidate has accepted to take over from the leader of this record. */
function isTransferToThis(config: Config, { record, orders }: LockView): boolean {
  const { transfer } = orders ?? {};
  return (
    transfer?.accepted === true &&
    transfer.transitions === record.leaseTransitions &&
    transfer.to === config.identity
  );
}

/** The earliest time at which any candidate with these timings may acquire the lock (G1). */
function lockFreeAtMs(config: Config, state: State): number | undefined {
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
      // A record that this process wrote blocks nobody: our own term is over, and any other leader would have replaced it.
      // It blocks the candidate that an operator chose, so the wait for that candidate begins when it does not any more.
      const waitMs = orderedWaitMs(config, lock.view);
      const isFree = isRelease(record) || (ownWriteOf(state, record) !== undefined && waitMs === 0);
      const freeAtMs = isFree ? lock.sinceMs : heldUntilMs(config, lock);
      return Math.max(state.vanishedHolderUntilMs, freeAtMs) + waitMs;
    }
  }
}
