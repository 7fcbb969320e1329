/**
 * What follows from a sight of the lock, whether it came as an answer, by the watch or as the echo of our own write.
 * Upholds G1: a sight of anything but our own record ends the term at once, and no term is ever won back by looking.
 */

import { elapsedMs } from "./instant.ts";
import { attemptOf, durationMs, isToldToStepDown } from "./queries.ts";
import { type LockView, sameRecord } from "./record.ts";
import { backToNormal, type Draft, drain, endTerm, invalidate, lose, refuse } from "./transitions.ts";
import type { Attempt, Knowledge } from "./types.ts";

/** One renewal may have been under way when its process died; a second one proves that a twin lives. */
const renewalsThatProveATwin = 2;

export function observe(d: Draft, view: LockView): void {
  const { state } = d;
  state.heardAtMs = d.at.monoMs;
  if (view.revision < state.revision) return;
  const before = state.lock;
  if (before.kind === "present" && before.view.version === view.version) return;

  const isSameLock = before.kind === "present" && before.view.uid === view.uid;
  const onlyMetadataChanged = isSameLock && sameRecord(before.view.record, view.record);
  rememberVanishedHolder(d, before, view);
  // Any change counts as a renewal, also one that leaves the record as it was: client-go repeats a renewal whose answer
  // was lost with the time of the first attempt.
  state.lock = { kind: "present", view, sinceMs: d.at.monoMs };
  state.revision = view.revision;
  state.observations += 1;
  state.mustRead = false;
  backToNormal(d);
  const attempt = attemptOf(state, view.record);
  // What was sent over an older version can no longer be committed, so only the record that stands is kept.
  if (attempt) state.attempts = [attempt];
  else state.campaign += 1;

  switch (state.phase.name) {
    case "campaigning":
      if (attempt) startTerm(d, attempt, view);
      else watchForTwin(d, before, view);
      break;
    case "leading":
    case "draining":
      if (onlyMetadataChanged) break;
      if (attempt?.purpose === "renew" && isSameLock) confirm(d, attempt);
      else {
        const isOurs = view.record.holderIdentity === d.config.identity;
        lose(d, isOurs ? "overwritten" : "taken-over", false);
      }
      break;
    case "releasing": {
      const { reason, cooldownMs } = state.phase;
      if (attempt?.purpose === "release") endTerm(d, reason, true, cooldownMs);
      else if (!isSameLock || (!attempt && !onlyMetadataChanged)) endTerm(d, reason, false, cooldownMs);
      break;
    }
    case "lost":
      if (!isSameLock || (!attempt && !onlyMetadataChanged)) invalidate(d);
      break;
  }
  if (isToldToStepDown(d.config, view)) drain(d, "step-down", d.config.cooldownMs);
}

/** The lock does not exist (any more). */
export function observeAbsent(d: Draft): void {
  const { state } = d;
  state.heardAtMs = d.at.monoMs;
  state.mustRead = false;
  state.campaign += 1;
  if (state.lock.kind === "absent") return;
  rememberVanishedHolder(d, state.lock, undefined);
  state.lock = { kind: "absent", sinceMs: d.at.monoMs };
  state.observations += 1;
  if (state.phase.name === "leading" || state.phase.name === "draining") lose(d, "lock-deleted", false);
  else if (state.phase.name === "releasing") endTerm(d, state.phase.reason, false, state.phase.cooldownMs);
  else invalidate(d);
}

/**
 * A holder passes its right on by letting go or by not renewing. A lock that was deleted, or replaced by another one,
 * breaks that chain: whoever held it last may be working still, and has its full time. That time is counted from now,
 * for the holder may have renewed unseen until a moment ago, and need not be the one that was seen last.
 */
function rememberVanishedHolder(d: Draft, before: Knowledge, view: LockView | undefined): void {
  if (before.kind !== "present" || before.view.uid === view?.uid) return;
  const own = attemptOf(d.state, before.view.record);
  // Within the time of our own write, unless it let go, nobody else can have held it.
  const isOurTime = own !== undefined && own.purpose !== "release";
  if (isOurTime && elapsedMs(own.sent, d.at) < d.config.timings.hardDeadlineMs) return;
  waitForVanishedHolder(d, before.view);
}

function waitForVanishedHolder(d: Draft, { record }: LockView): void {
  // Of a lock that had been let go, a successor that was never seen is waited for; it wrote a duration like our own.
  const leastMs = record.holderIdentity === "" ? d.config.timings.leaseDurationMs : 0;
  const untilMs = d.at.monoMs + Math.max(durationMs(d.config, record), leastMs);
  d.state.vanishedHolderUntilMs = Math.max(d.state.vanishedHolderUntilMs, untilMs);
}

/**
 * What was just read is older than what was seen before it was asked for: the store behind the API server was restored
 * from a backup, or is another one. What was known is of another history, and its holder may be working still.
 */
export function historyWentBack(d: Draft, view: LockView): void {
  const { state } = d;
  const message =
    `the lock went back from revision ${state.revision} to ${view.revision}: the API server's store was restored or replaced; ` +
    "fencing tokens do not continue, so storage that remembers them must be told";
  d.effects.push({ type: "failed", during: "read", failure: { kind: "server", message } });
  if (state.lock.kind === "present") waitForVanishedHolder(d, state.lock.view);
  state.lock = { kind: "unknown" };
  state.revision = view.revision;
}

function startTerm(d: Draft, attempt: Attempt, view: LockView): void {
  if (attempt.purpose !== "acquire" || attempt.campaign !== d.state.campaign) return;
  // Learned too late: the right that this write gave is over, and a new one must be asked for.
  if (elapsedMs(attempt.sent, d.at) >= d.config.timings.renewDeadlineMs) return;
  const { acquireTime, leaseTransitions } = view.record;
  d.state.phase = {
    name: "leading",
    term: { token: view.revision, sent: attempt.sent, acquireTime, leaseTransitions },
  };
  if (d.state.stopping) {
    // Won while being asked to leave: nothing was started, so it can be given back at once.
    d.state.phase = {
      name: "releasing",
      term: d.state.phase.term,
      reason: "shutdown",
      cooldownMs: 0,
      wasStarted: false,
    };
    return;
  }
  d.effects.push({ type: "term-started", token: view.revision });
}

function confirm(d: Draft, attempt: Attempt): void {
  const { phase } = d.state;
  if (phase.name !== "leading" && phase.name !== "draining") return;
  // A right that has lapsed is not extended by an answer that comes afterwards, e.g. to a process that was frozen.
  if (elapsedMs(phase.term.sent, d.at) >= d.config.timings.hardDeadlineMs) return;
  d.state.phase = { ...phase, term: { ...phase.term, sent: attempt.sent } };
  d.effects.push({ type: "renewed" });
}

function watchForTwin(d: Draft, before: Knowledge, view: LockView): void {
  if (view.record.holderIdentity !== d.config.identity) {
    d.state.twinRenewals = 0;
    return;
  }
  const wasSeenBefore =
    before.kind === "present" &&
    before.view.uid === view.uid &&
    before.view.record.holderIdentity === d.config.identity &&
    !sameRecord(before.view.record, view.record);
  if (!wasSeenBefore) return;
  d.state.twinRenewals += 1;
  if (d.state.twinRenewals < renewalsThatProveATwin) return;
  refuse(
    d,
    "duplicate-identity",
    `another live process holds the lock with this candidate's own identity ${JSON.stringify(d.config.identity)}; ` +
      "give each replica its own, for example its pod name",
  );
}
