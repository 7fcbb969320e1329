/**
 * What follows from a view of the lock, whether an answer or the watch delivered it.
 * Upholds G1: a view of any record but our own ends the term at once, and no view ever restores a lost term.
 */

import { elapsedMs } from "./instant.ts";
import {
  blockedUntilMs,
  isNamed,
  isNaming,
  isOrderedToStepDown,
  leaseDurationMs,
  ownWriteOf,
} from "./queries.ts";
import { type LockView, sameRecord } from "./record.ts";
import {
  drain,
  endTerm,
  invalidateLostTerm,
  loseTerm,
  refuse,
  resetBackoff,
  type StepContext,
} from "./transitions.ts";
import type { ObservedLock, OwnWrite } from "./types.ts";

/** The first renewal may have been on its way when its process died. The second proves that the process is alive. */
const renewalsThatProveADuplicate = 2;

export function observe(ctx: StepContext, view: LockView): void {
  const { state } = ctx;
  state.lastContactMs = ctx.at.monoMs;
  if (view.revision < state.revision) return;
  const before = state.lock;
  if (before.kind === "present" && isSameView(before.view, view)) return;

  const isSameLock = before.kind === "present" && before.view.uid === view.uid;
  const onlyMetadataChanged = isSameLock && sameRecord(before.view.record, view.record);
  rememberVanishedHolder(ctx, before, view);
  if (isNaming(view)) rememberPredecessor(ctx, before);
  // A holder renews by changing the record. A change of metadata alone extends nothing: otherwise a controller that labels
  // the lock again and again would keep a dead leader in office.
  const sinceMs = onlyMetadataChanged ? before.sinceMs : ctx.at.monoMs;
  state.lock = { kind: "present", view, sinceMs };
  state.longestLeaseMs = Math.max(state.longestLeaseMs, leaseDurationMs(ctx.config, view.record));
  state.revision = view.revision;
  state.observations += 1;
  state.mustRead = false;
  resetBackoff(ctx);
  const ownWrite = ownWriteOf(state, view.record);
  // Writes that were sent over an older version can no longer be committed. Only the record in the lock still matters.
  if (ownWrite) state.ownWrites = [ownWrite];
  else state.campaign += 1;

  switch (state.phase.name) {
    case "campaigning":
      if (ownWrite) startTerm(ctx, ownWrite, view);
      else detectDuplicateIdentity(ctx, before, view);
      break;
    case "leading":
    case "draining":
      if (onlyMetadataChanged) break;
      if (ownWrite?.purpose === "renew" && isSameLock) extendTerm(ctx, ownWrite);
      else {
        const hasOurIdentity = view.record.holderIdentity === ctx.config.identity;
        loseTerm(ctx, hasOurIdentity ? "overwritten" : "taken-over", false);
      }
      break;
    case "releasing": {
      const { reason, cooldownMs } = state.phase;
      if (ownWrite?.purpose === "release") endTerm(ctx, reason, true, cooldownMs);
      else if (!isSameLock || (!ownWrite && !onlyMetadataChanged)) endTerm(ctx, reason, false, cooldownMs);
      break;
    }
    case "lost":
      if (!isSameLock || (!ownWrite && !onlyMetadataChanged)) invalidateLostTerm(ctx);
      break;
  }
  if (isOrderedToStepDown(ctx.config, view)) drain(ctx, "step-down", ctx.config.cooldownMs);
}

function isSameView(a: LockView, b: LockView): boolean {
  return a.version === b.version && a.uid === b.uid && sameRecord(a.record, b.record);
}

/** Handles the news that the lock does not exist. */
export function observeAbsent(ctx: StepContext): void {
  const { state } = ctx;
  state.lastContactMs = ctx.at.monoMs;
  state.mustRead = false;
  state.campaign += 1;
  if (state.lock.kind === "absent") return;
  rememberVanishedHolder(ctx, state.lock, undefined);
  state.lock = { kind: "absent", sinceMs: ctx.at.monoMs };
  state.observations += 1;
  if (state.phase.name === "leading" || state.phase.name === "draining") loseTerm(ctx, "lock-deleted", false);
  else if (state.phase.name === "releasing") endTerm(ctx, state.phase.reason, false, state.phase.cooldownMs);
  else invalidateLostTerm(ctx);
}

/**
 * A holder normally gives up the lock by releasing it or by not renewing it. If the lock is deleted or replaced, its last
 * holder may still be working, so this candidate waits one full lease. The wait counts from now: the holder may have
 * renewed just before the deletion without this candidate seeing it, and it need not be the holder that was seen last.
 */
function rememberVanishedHolder(ctx: StepContext, before: ObservedLock, view: LockView | undefined): void {
  if (before.kind !== "present") return;
  // The same version with another record: the store was restored from a backup, and has given the number again.
  const isReplaced = before.view.uid !== view?.uid || before.view.version === view.version;
  if (!isReplaced) return;
  const ownWrite = ownWriteOf(ctx.state, before.view.record);
  // Until the hard deadline of our own write, nobody else can have acquired the lock, unless that write released it.
  const wasOurs = ownWrite !== undefined && ownWrite.purpose !== "release";
  if (wasOurs && elapsedMs(ownWrite.sent, ctx.at) < ctx.config.timings.hardDeadlineMs) return;
  waitForVanishedHolder(ctx);
}

/**
 * The API server has named a leader in place of another holder, whose lease this candidate waits out by its own clock. It does so
 * whoever is named: that one may never acquire the lock, and then this candidate is named, or takes a lock that nobody renews.
 */
function rememberPredecessor(ctx: StepContext, before: ObservedLock): void {
  const { state, config } = ctx;
  // Whoever held the lock before was never seen.
  if (before.kind === "unknown") waitForVanishedHolder(ctx);
  else if (before.kind === "present")
    state.vanishedHolderUntilMs = Math.max(
      state.vanishedHolderUntilMs,
      blockedUntilMs(config, state, before),
    );
}

function waitForVanishedHolder(ctx: StepContext): void {
  // A successor that was never seen may have acquired the lock meanwhile. Its lease is not known, so the longest lease that
  // this candidate has seen or has itself is assumed.
  const untilMs = ctx.at.monoMs + Math.max(ctx.state.longestLeaseMs, ctx.config.timings.leaseDurationMs);
  ctx.state.vanishedHolderUntilMs = Math.max(ctx.state.vanishedHolderUntilMs, untilMs);
}

/**
 * Handles a read whose revision is lower than one that was seen before the read was sent. The API server's store was
 * restored from a backup or replaced. The last known holder may still be working, but this store does not show it.
 */
export function handleStoreRollback(ctx: StepContext, view: LockView): void {
  const { state } = ctx;
  const message =
    `the lock went back from revision ${state.revision} to ${view.revision}: the API server's store was restored or ` +
    "replaced; if your storage checks fencing tokens, reset the highest token it has seen, because new tokens are lower";
  ctx.effects.push({ type: "failed", during: "read", failure: { kind: "server", message } });
  if (state.lock.kind === "present") waitForVanishedHolder(ctx);
  state.lock = { kind: "unknown" };
  state.revision = view.revision;
}

function startTerm(ctx: StepContext, ownWrite: OwnWrite, view: LockView): void {
  if (ownWrite.purpose !== "acquire" || ownWrite.campaign !== ctx.state.campaign) return;
  // The confirmation came too late: the renew deadline of this write has passed. The candidate must acquire again.
  if (elapsedMs(ownWrite.sent, ctx.at) >= ctx.config.timings.renewDeadlineMs) return;
  const { acquireTime, leaseTransitions } = view.record;
  const term = { token: view.revision, sent: ownWrite.sent, acquireTime, leaseTransitions };
  // A record with our identity that was seen before this term is no proof any more: it may have been our own.
  ctx.state.duplicateRenewals = 0;
  if (ctx.state.stopping) {
    // Won after "stop": no work was started, so the lock can be released at once.
    ctx.state.phase = { name: "releasing", term, reason: "shutdown", cooldownMs: 0, wasStarted: false };
    return;
  }
  ctx.state.phase = { name: "leading", term };
  ctx.effects.push({ type: "term-started", token: view.revision });
}

function extendTerm(ctx: StepContext, ownWrite: OwnWrite): void {
  const { phase } = ctx.state;
  if (phase.name !== "leading" && phase.name !== "draining") return;
  // A confirmation that arrives after the hard deadline does not extend the term, e.g. when the process was frozen.
  if (elapsedMs(phase.term.sent, ctx.at) >= ctx.config.timings.hardDeadlineMs) return;
  ctx.state.phase = { ...phase, term: { ...phase.term, sent: ownWrite.sent } };
  ctx.effects.push({ type: "renewed" });
}

function detectDuplicateIdentity(ctx: StepContext, before: ObservedLock, view: LockView): void {
  const { identity } = ctx.config;
  // The API server repeats a name that was not acquired in time. It is not another process with the same identity.
  if (view.record.holderIdentity !== identity || isNamed(ctx.config, view)) {
    ctx.state.duplicateRenewals = 0;
    return;
  }
  const isRenewal =
    before.kind === "present" &&
    before.view.uid === view.uid &&
    before.view.record.holderIdentity === identity &&
    !sameRecord(before.view.record, view.record);
  if (!isRenewal) return;
  ctx.state.duplicateRenewals += 1;
  if (ctx.state.duplicateRenewals < renewalsThatProveADuplicate) return;
  refuse(
    ctx,
    "duplicate-identity",
    `another live process holds the lock with the same identity ${JSON.stringify(identity)}; ` +
      "give each replica a unique identity, for example its pod name",
  );
}
