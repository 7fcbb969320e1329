/**
 * The election of one candidate as a pure function: the same state, event, time and random number give the same result.
 *
 * Upholds G1 (mutual exclusion), G2 (fencing), the release rules of G3, and the timing of G4. It cannot make the caller
 * perform an effect, nor make work stop: it says by when work must have stopped, and the caller enforces that.
 */

import type { Instant } from "@tenure/base";
import { agenda, type Task } from "./agenda.ts";
import { clockJumpMs, moveAcrossJump } from "./instant.ts";
import { handleStoreRollback, observe, observeAbsent } from "./observe.ts";
import { isNamed, leaderAt } from "./queries.ts";
import { acquireMicroTime, type LeaderRecord, type LockView, microTime, nextTransitions } from "./record.ts";
import {
  cancelRequest,
  drain,
  endTerm,
  halfOfRemainingMs,
  handleConflict,
  handleFailure,
  loseTerm,
  minRequestMs,
  resetBackoff,
  type StepContext,
  stagger,
  startCampaign,
} from "./transitions.ts";
import type { Answer, Config, Effect, Event, InFlight, RequestKind, State, WritePurpose } from "./types.ts";

/** How many unconfirmed writes are remembered. An older one that shows up in the lock is treated as another process's. */
const maxOwnWrites = 64;

export const initialState: State = {
  phase: { name: "idle" },
  stopping: false,
  lock: { kind: "unknown" },
  revision: -1n,
  observations: 0,
  lastContactMs: Number.NEGATIVE_INFINITY,
  watchUp: false,
  vanishedHolderUntilMs: Number.NEGATIVE_INFINITY,
  ownWrites: [],
  campaign: 0,
  inFlight: undefined,
  nextId: 1,
  mustRead: false,
  failures: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
  duplicateRenewals: 0,
  longestLeaseMs: 0,
  reportedLeader: undefined,
  clockOffsetMs: undefined,
};

/** Applies one event. @param random a number in [0, 1) */
export function step(
  config: Config,
  state: State,
  event: Event,
  at: Instant,
  random: number,
): { state: State; effects: Effect[] } {
  const ctx: StepContext = { config, at, random, effects: [], state: { ...state } };
  adjustForClockJump(ctx);
  // The event comes before the deadlines: an answer may have waited in the socket while the process was busy. It cannot
  // restore a term that has passed its hard deadline (see extendTerm).
  apply(ctx, event);
  runDueTasks(ctx);
  reportLeader(ctx);
  return { state: ctx.state, effects: ctx.effects };
}

/** Makes everything that was sent before a clock jump as old as the clock that shows more, permanently. */
function adjustForClockJump(ctx: StepContext): void {
  const { state, at } = ctx;
  const jumpMs = state.clockOffsetMs === undefined ? 0 : clockJumpMs(state.clockOffsetMs, at);
  if (state.clockOffsetMs === undefined || jumpMs !== 0) state.clockOffsetMs = at.wallMs - at.monoMs;
  if (jumpMs === 0) return;
  state.ownWrites = state.ownWrites.map((write) => ({ ...write, sent: moveAcrossJump(write.sent, jumpMs) }));
  if (state.phase.name === "idle" || state.phase.name === "campaigning") return;
  const { term } = state.phase;
  state.phase = { ...state.phase, term: { ...term, sent: moveAcrossJump(term.sent, jumpMs) } };
}

function apply(ctx: StepContext, event: Event): void {
  const { state } = ctx;
  switch (event.type) {
    case "start":
      if (state.phase.name !== "idle") return;
      state.stopping = false;
      // The known state of the lock may come from an earlier run and be outdated.
      state.watchUp = false;
      state.mustRead = true;
      // In a coordinated election, the API server may have named this candidate in place of a holder that it has not seen.
      if (state.lock.kind === "absent" || ctx.config.coordinated) state.lock = { kind: "unknown" };
      startCampaign(ctx, 0);
      return;
    case "stop":
      stop(ctx);
      return;
    case "step-down":
      drain(ctx, event.reason ?? "step-down", event.cooldownMs);
      return;
    case "work-stopped":
      workStopped(ctx, event.cooldownMs);
      return;
    case "answer":
      handleAnswer(ctx, event.id, event.answer);
      return;
    case "observed":
      stagger(ctx);
      observe(ctx, event.view);
      return;
    case "deleted":
      if (event.revision < state.revision) return;
      state.revision = event.revision;
      stagger(ctx);
      observeAbsent(ctx);
      return;
    case "changed":
      stagger(ctx);
      state.mustRead = true;
      // The answer to the request in flight may be older than the change.
      state.observations += 1;
      return;
    case "watch-up":
      state.watchUp = true;
      state.lastContactMs = ctx.at.monoMs;
      return;
    case "watch-down":
      state.watchUp = false;
      return;
    case "tick":
      return;
  }
}

function stop(ctx: StepContext): void {
  ctx.state.stopping = true;
  drain(ctx, "shutdown", 0);
  if (ctx.state.phase.name === "idle") ctx.effects.push({ type: "stopped" });
  // A write in flight may be acquiring the lock right now. Wait for its answer, so that the lock can be released.
  const { phase, inFlight } = ctx.state;
  const canBeCancelled = inFlight?.kind === "read" || inFlight?.kind === "accept";
  if (phase.name === "campaigning" && canBeCancelled) cancelRequest(ctx);
}

function workStopped(ctx: StepContext, cooldownMs: number): void {
  const { phase } = ctx.state;
  switch (phase.name) {
    case "leading": {
      const { term } = phase;
      ctx.state.phase = { name: "releasing", term, reason: "work-ended", cooldownMs, wasStarted: true };
      return;
    }
    case "draining":
      ctx.state.phase = { ...phase, name: "releasing", wasStarted: true };
      return;
    case "lost":
      endTerm(ctx, phase.reason, false, phase.cooldownMs);
      return;
  }
}

function handleAnswer(ctx: StepContext, id: number, answer: Answer): void {
  const request = ctx.state.inFlight?.id === id ? ctx.state.inFlight : undefined;
  if (request) ctx.state.inFlight = undefined;
  const mayBeOutdated = ctx.state.mustRead && ctx.state.observations !== request?.observations;
  // A view counts even if it arrives late. Any other answer counts only for the request in flight.
  if (answer.kind === "found") {
    const isFresh = request !== undefined && ctx.state.observations === request.observations;
    if (isFresh && answer.view.revision < ctx.state.revision) handleStoreRollback(ctx, answer.view);
    observe(ctx, answer.view);
  }
  if (!request) return;
  switch (answer.kind) {
    case "found":
      // A write that was answered with a known version did not change the lock.
      if (request.kind !== "read" && ctx.state.observations === request.observations) {
        handleConflict(ctx);
        return;
      }
      // After a conflict, a read that shows nothing new does not explain the conflict: the back-off continues.
      if (request.kind === "read" && !ctx.state.mustRead) resetBackoff(ctx);
      ctx.state.mustRead = mayBeOutdated;
      return;
    case "absent":
      handleAbsentAnswer(ctx, request);
      return;
    case "conflict":
      handleConflict(ctx);
      return;
    case "failed":
      handleFailure(ctx, request.kind, answer.failure);
      return;
  }
}

function handleAbsentAnswer(ctx: StepContext, request: InFlight): void {
  if (ctx.state.observations !== request.observations) {
    ctx.state.mustRead = true;
    return;
  }
  if (ctx.state.lock.kind !== "absent") resetBackoff(ctx);
  else if (request.kind !== "read") {
    // A create was answered with 404: the lock is not what is missing.
    const message = "cannot create the lock: its namespace or parent object does not exist";
    handleFailure(ctx, request.kind, { kind: "server", message });
  } else if (!ctx.state.mustRead) resetBackoff(ctx);
  observeAbsent(ctx);
}

/** Each task moves its own agenda entry into the future, so the loop ends. The limit only guards against a bug here. */
function runDueTasks(ctx: StepContext): void {
  for (let turns = 0; turns < 20; turns++) {
    const due = agenda(ctx.config, ctx.state, ctx.at).find((entry) => entry.fromMs <= ctx.at.monoMs);
    if (!due) return;
    runTask(ctx, due.task);
  }
  throw new Error("bug in @tenure/core: a task did not move its agenda entry into the future");
}

function runTask(ctx: StepContext, task: Task): void {
  const { state } = ctx;
  const { phase } = state;
  switch (task) {
    case "time-out-request": {
      const request = state.inFlight as InFlight;
      cancelRequest(ctx);
      const message = "the API server did not respond in time";
      handleFailure(ctx, request.kind, { kind: "timeout", message });
      return;
    }
    case "stop":
      state.phase = { name: "idle" };
      ctx.effects.push({ type: "stopped" });
      return;
    case "read":
      read(ctx);
      return;
    case "accept":
      accept(ctx);
      return;
    case "acquire":
    case "renew":
    case "release":
      write(ctx, task);
      return;
    case "renew-deadline":
    case "stop-timeout":
      loseTerm(ctx, task, true);
      return;
    case "hard-deadline":
      if (phase.name !== "lost") return;
      state.phase = { ...phase, overrun: true };
      if (phase.valid) ctx.effects.push({ type: "term-expired" });
      ctx.effects.push({ type: "overrun" });
      return;
    case "give-up-release":
      if (phase.name === "releasing") endTerm(ctx, phase.reason, false, phase.cooldownMs);
      return;
  }
}

function read(ctx: StepContext): void {
  const { id, timeoutMs } = startRequest(ctx, "read");
  ctx.effects.push({ type: "read", id, timeoutMs });
}

function accept(ctx: StepContext): void {
  const { lock } = ctx.state;
  if (lock.kind !== "present") return;
  const { id, timeoutMs } = startRequest(ctx, "accept");
  ctx.effects.push({ type: "accept", id, over: lock.view, timeoutMs });
}

function write(ctx: StepContext, purpose: WritePurpose): void {
  const { state, at } = ctx;
  const over = state.lock.kind === "present" ? state.lock.view : undefined;
  const record = recordFor(ctx, purpose, over);
  const ownWrite = { record, purpose, sent: at, campaign: state.campaign };
  state.ownWrites = state.ownWrites.concat(ownWrite).slice(-maxOwnWrites);
  const { id, timeoutMs } = startRequest(ctx, purpose);
  ctx.effects.push({ type: "write", id, purpose, over, record, timeoutMs });
}

function startRequest(ctx: StepContext, kind: RequestKind): { id: number; timeoutMs: number } {
  const { state, at } = ctx;
  const timeoutMs = Math.max(
    Math.min(ctx.config.timings.attemptTimeoutMs, halfOfRemainingMs(ctx)),
    minRequestMs,
  );
  const id = state.nextId;
  state.nextId += 1;
  state.inFlight = { id, kind, timeoutAtMs: at.monoMs + timeoutMs, observations: state.observations };
  return { id, timeoutMs };
}

function recordFor(ctx: StepContext, purpose: WritePurpose, over: LockView | undefined): LeaderRecord {
  const { config, state } = ctx;
  const { phase } = state;
  const now = microTime(ctx.at.wallMs, ctx.random);
  const holderIdentity = config.identity;
  const leaseDurationSeconds = config.timings.leaseDurationMs / 1_000;
  if (!("term" in phase)) {
    const acquireTime = acquireMicroTime(ctx.at.wallMs, ctx.random);
    const leaseTransitions = transitionsAfter(config, over);
    return { holderIdentity, leaseDurationSeconds, acquireTime, renewTime: now, leaseTransitions };
  }
  const { acquireTime, leaseTransitions } = phase.term;
  if (purpose === "release") {
    // Duration 1: the API server rejects 0, and candidates on client-go should not wait longer.
    return {
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    };
  }
  return { holderIdentity, leaseDurationSeconds, acquireTime, renewTime: now, leaseTransitions };
}

/** Counts changes of the holder as client-go does: 0 for a new lock, and no change if the same identity returns. */
function transitionsAfter(config: Config, over: LockView | undefined): number {
  if (!over) return 0;
  const { holderIdentity, leaseTransitions } = over.record;
  // Orders name a term by this number, and the API server does not count.
  if (isNamed(config, over)) return nextTransitions(leaseTransitions);
  return holderIdentity === config.identity ? leaseTransitions : nextTransitions(leaseTransitions);
}

function reportLeader(ctx: StepContext): void {
  const leader = leaderAt(ctx.config, ctx.state, ctx.at);
  if (leader === ctx.state.reportedLeader) return;
  ctx.state.reportedLeader = leader;
  ctx.effects.push({ type: "leader-changed", leader });
}
