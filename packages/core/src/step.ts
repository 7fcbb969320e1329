/**
 * The election of one candidate as a pure function: the same state, event, time and random number give the same result.
 *
 * Upholds G1 (mutual exclusion), G2 (tokens), the release rules of G3, and the timing of G4. It does not promise that
 * the shell performs an effect, nor that work stops when told to: it says when it must have, and the shell enforces it.
 */

import type { Instant } from "@tenure/base";
import { agenda, type Task } from "./agenda.ts";
import { acrossJump, clockJumpMs } from "./instant.ts";
import { historyWentBack, observe, observeAbsent } from "./observe.ts";
import { leaderAt } from "./queries.ts";
import { type LeaderRecord, type LockView, microTime, nextTransitions } from "./record.ts";
import {
  backToNormal,
  campaign,
  cancelRequest,
  conflicted,
  type Draft,
  drain,
  endTerm,
  halfOfWhatIsLeftMs,
  lose,
  requestFailed,
  shortestMs,
  spread,
} from "./transitions.ts";
import type { Answer, Config, Effect, Event, InFlight, State, WritePurpose } from "./types.ts";

/** So many unanswered writes are remembered; an older one found in the lock is waited out like a stranger's. */
const rememberedAttempts = 64;

export const initialState: State = {
  phase: { name: "idle" },
  stopping: false,
  lock: { kind: "unknown" },
  revision: -1n,
  observations: 0,
  heardAtMs: Number.NEGATIVE_INFINITY,
  watchUp: false,
  vanishedHolderUntilMs: Number.NEGATIVE_INFINITY,
  attempts: [],
  campaign: 0,
  inFlight: undefined,
  nextId: 1,
  mustRead: false,
  failures: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
  twinRenewals: 0,
  reportedLeader: undefined,
  clockSkewMs: undefined,
};

export function step(
  config: Config,
  state: State,
  event: Event,
  at: Instant,
  random: number,
): { state: State; effects: Effect[] } {
  const d: Draft = { config, at, random, effects: [], state: { ...state } };
  noticeClockJump(d);
  // An answer is heard before the deadline is judged: it may have been lying in the socket while the process was busy.
  // It cannot revive a right that has lapsed (see confirm).
  apply(d, event);
  doWhatIsDue(d);
  reportLeader(d);
  return { state: d.state, effects: d.effects };
}

/** What this candidate sent before a jump is as old as either clock says, for good. */
function noticeClockJump(d: Draft): void {
  const { state, at } = d;
  const jumpMs = state.clockSkewMs === undefined ? 0 : clockJumpMs(state.clockSkewMs, at);
  if (state.clockSkewMs === undefined || jumpMs !== 0) state.clockSkewMs = at.wallMs - at.monoMs;
  if (jumpMs === 0) return;
  state.attempts = state.attempts.map((attempt) => ({ ...attempt, sent: acrossJump(attempt.sent, jumpMs) }));
  if (state.phase.name === "idle" || state.phase.name === "campaigning") return;
  const { term } = state.phase;
  state.phase = { ...state.phase, term: { ...term, sent: acrossJump(term.sent, jumpMs) } };
}

function apply(d: Draft, event: Event): void {
  const { state } = d;
  switch (event.type) {
    case "start":
      if (state.phase.name !== "idle") return;
      state.stopping = false;
      // What was known may be from an earlier run, since when nobody looked.
      state.watchUp = false;
      state.mustRead = true;
      if (state.lock.kind === "absent") state.lock = { kind: "unknown" };
      campaign(d, 0);
      return;
    case "stop":
      stop(d);
      return;
    case "step-down":
      drain(d, "step-down", event.cooldownMs);
      return;
    case "work-stopped":
      workStopped(d, event.cooldownMs);
      return;
    case "answer":
      answered(d, event.id, event.answer);
      return;
    case "observed":
      spread(d);
      observe(d, event.view);
      return;
    case "deleted":
      if (event.revision < state.revision) return;
      state.revision = event.revision;
      spread(d);
      observeAbsent(d);
      return;
    case "changed":
      spread(d);
      state.mustRead = true;
      // The answer to what is in flight may be older than the change.
      state.observations += 1;
      return;
    case "watch-up":
      state.watchUp = true;
      state.heardAtMs = d.at.monoMs;
      return;
    case "watch-down":
      state.watchUp = false;
      return;
    case "tick":
      return;
  }
}

function stop(d: Draft): void {
  d.state.stopping = true;
  drain(d, "shutdown", 0);
  if (d.state.phase.name === "idle") d.effects.push({ type: "stopped" });
  // A write may be winning the lock at this moment: its answer is awaited, so that the lock can be given back.
  if (d.state.phase.name === "campaigning" && d.state.inFlight?.kind === "read") cancelRequest(d);
}

function workStopped(d: Draft, cooldownMs: number): void {
  const { phase } = d.state;
  switch (phase.name) {
    case "leading":
      d.state.phase = {
        name: "releasing",
        term: phase.term,
        reason: "work-ended",
        cooldownMs,
        wasStarted: true,
      };
      return;
    case "draining":
      d.state.phase = {
        name: "releasing",
        term: phase.term,
        reason: phase.reason,
        cooldownMs: phase.cooldownMs,
        wasStarted: true,
      };
      return;
    case "lost":
      endTerm(d, phase.reason, false, phase.cooldownMs);
      return;
  }
}

function answered(d: Draft, id: number, answer: Answer): void {
  const request = d.state.inFlight?.id === id ? d.state.inFlight : undefined;
  if (request) d.state.inFlight = undefined;
  const isOutdated = d.state.mustRead && d.state.observations !== request?.observations;
  // A view is news however late it comes; every other answer counts only for the request that waits for it.
  if (answer.kind === "found") {
    const isFresh = request !== undefined && d.state.observations === request.observations;
    if (isFresh && answer.view.revision < d.state.revision) historyWentBack(d, answer.view);
    observe(d, answer.view);
  }
  if (!request) return;
  switch (answer.kind) {
    case "found":
      // A write whose answer shows nothing new has changed nothing, whatever it says.
      if (request.kind !== "read" && d.state.observations === request.observations) {
        conflicted(d);
        return;
      }
      // A read after a conflict that shows nothing new has not explained the conflict: the back-off goes on.
      if (request.kind === "read" && !d.state.mustRead) backToNormal(d);
      d.state.mustRead = isOutdated;
      return;
    case "absent":
      answeredAbsent(d, request);
      return;
    case "conflict":
      conflicted(d);
      return;
    case "failed":
      requestFailed(d, request.kind, answer.failure);
      return;
  }
}

function answeredAbsent(d: Draft, request: InFlight): void {
  if (d.state.observations !== request.observations) {
    d.state.mustRead = true;
    return;
  }
  if (d.state.lock.kind !== "absent") backToNormal(d);
  else if (request.kind !== "read") {
    // What is missing is not the lock, which was to be created, but what it belongs to.
    const message = "the lock cannot be created: its namespace or parent does not exist";
    requestFailed(d, request.kind, { kind: "server", message });
  } else if (!d.state.mustRead) backToNormal(d);
  observeAbsent(d);
}

/** Each task moves its own entry of the agenda into the future, so this ends; the bound is against a mistake here. */
function doWhatIsDue(d: Draft): void {
  for (let turns = 0; turns < 20; turns++) {
    const due = agenda(d.config, d.state, d.at).find((entry) => entry.atMs <= d.at.monoMs);
    if (!due) return;
    perform(d, due.task);
  }
  throw new Error("the agenda does not empty: a task left its entry in the past");
}

function perform(d: Draft, task: Task): void {
  const { state } = d;
  const { phase } = state;
  switch (task) {
    case "abandon": {
      const request = state.inFlight as InFlight;
      cancelRequest(d);
      requestFailed(d, request.kind, { kind: "timeout", message: "no answer in time" });
      return;
    }
    case "leave":
      state.phase = { name: "idle" };
      d.effects.push({ type: "stopped" });
      return;
    case "read":
      read(d);
      return;
    case "acquire":
      write(d, "acquire");
      return;
    case "renew":
      write(d, "renew");
      return;
    case "release":
      write(d, "release");
      return;
    case "soft-end":
      lose(d, "renew-deadline", true);
      return;
    case "overrun":
      if (phase.name !== "lost") return;
      state.phase = { ...phase, overrun: true };
      if (phase.valid) d.effects.push({ type: "term-expired" });
      d.effects.push({ type: "overrun" });
      return;
    case "keep":
      if (phase.name === "releasing") endTerm(d, phase.reason, false, phase.cooldownMs);
      return;
  }
}

function read(d: Draft): void {
  const { id, timeoutMs } = request(d, "read");
  d.effects.push({ type: "read", id, timeoutMs });
}

function write(d: Draft, purpose: WritePurpose): void {
  const { state, at } = d;
  const over = state.lock.kind === "present" ? state.lock.view : undefined;
  const record = recordFor(d, purpose, over);
  state.attempts = [...state.attempts, { record, purpose, sent: at, campaign: state.campaign }].slice(
    -rememberedAttempts,
  );
  const { id, timeoutMs } = request(d, purpose);
  d.effects.push({ type: "write", id, purpose, over, record, timeoutMs });
}

function request(d: Draft, kind: InFlight["kind"]): { id: number; timeoutMs: number } {
  const { state, at } = d;
  const timeoutMs = Math.max(
    Math.min(d.config.timings.attemptTimeoutMs, halfOfWhatIsLeftMs(state.phase, d)),
    shortestMs,
  );
  const id = state.nextId;
  state.nextId += 1;
  state.inFlight = { id, kind, timeoutAtMs: at.monoMs + timeoutMs, observations: state.observations };
  return { id, timeoutMs };
}

function recordFor(d: Draft, purpose: WritePurpose, over: LockView | undefined): LeaderRecord {
  const { config, state } = d;
  const { phase } = state;
  const now = microTime(d.at.wallMs, d.random);
  const mine = {
    holderIdentity: config.identity,
    leaseDurationSeconds: config.timings.leaseDurationMs / 1_000,
  };
  const term =
    phase.name === "leading" || phase.name === "draining" || phase.name === "releasing"
      ? phase.term
      : undefined;
  if (purpose === "release") {
    // Duration 1: the API refuses 0, and client-go's candidates should not wait for longer.
    const leaseTransitions = term?.leaseTransitions ?? 0;
    return {
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    };
  }
  if (purpose === "renew" && term) {
    return {
      ...mine,
      acquireTime: term.acquireTime,
      renewTime: now,
      leaseTransitions: term.leaseTransitions,
    };
  }
  return { ...mine, acquireTime: now, renewTime: now, leaseTransitions: transitionsAfter(config, over) };
}

/** The count of changes between holders, as client-go counts: a new lock has had none, a return of the same holder is none. */
function transitionsAfter(config: Config, over: LockView | undefined): number {
  if (!over) return 0;
  const { holderIdentity, leaseTransitions } = over.record;
  return holderIdentity === config.identity ? leaseTransitions : nextTransitions(leaseTransitions);
}

function reportLeader(d: Draft): void {
  const leader = leaderAt(d.config, d.state, d.at);
  if (leader === d.state.reportedLeader) return;
  d.state.reportedLeader = leader;
  d.effects.push({ type: "leader-changed", leader });
}
