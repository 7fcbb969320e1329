/**
 * A member of a set of shards as a pure function: the same state, event, time and random number give the same result.
 *
 * Upholds G1 and G2 for every shard, together with the election machine that keeps the member lease: a shard's work may run
 * only until that lease's hard deadline. It cannot make the caller perform an effect, nor make work stop.
 */
import { backoffMs, type Instant } from "@tenure/base";
import { microTime, nextTransitions } from "../record.ts";
import type { Failure } from "../types.ts";
import { type SetTask, setAgenda } from "./agenda.ts";
import { StepSet } from "./context.ts";
import {
  isOutdatedMap,
  observeLease,
  observeLeaseDeleted,
  observeList,
  observeMap,
  observeMapDeleted,
  observeRemoved,
  trackGoneLeases,
} from "./knowledge.ts";
import { memberOf } from "./next-map.ts";
import { followMap, isLeaving, loseAll, stepDown, workStopped } from "./terms.ts";
import type {
  LeaseView,
  SetAnswer,
  SetConfig,
  SetEffect,
  SetEvent,
  SetInFlight,
  SetRequest,
  SetState,
} from "./types.ts";

/** The wait before the first retry of a failed request. It doubles up to retryPeriod. */
const firstRetryMs = 100;
/** After a conflict the map is read again at once, but not all members write again at the same moment. */
const conflictSpreadMs = 30;

export const initialSetState: SetState = {
  isStarted: false,
  stopping: false,
  hasLeft: false,
  map: { kind: "unknown" },
  leases: new Map(),
  deletions: new Map(),
  revision: -1n,
  isContiguous: false,
  gaps: 0,
  goneSinceMs: new Map(),
  vanished: [],
  quarantineUntilMs: Number.NEGATIVE_INFINITY,
  membership: { kind: "none" },
  terms: new Map(),
  lastTokens: new Map(),
  inFlight: undefined,
  nextId: 1,
  mustList: false,
  watchUp: false,
  lastContactMs: Number.NEGATIVE_INFINITY,
  lastListMs: Number.NEGATIVE_INFINITY,
  failures: 0,
  retryAtMs: Number.NEGATIVE_INFINITY,
};

/** Applies one event. @param random a number in [0, 1) */
export function stepSet(
  config: SetConfig,
  state: SetState,
  event: SetEvent,
  at: Instant,
  random: number,
): { state: SetState; effects: readonly SetEffect[] } {
  const ctx = new StepSet(config, state, at, random);
  apply(ctx, event);
  if (ctx.state.isStarted) {
    settle(ctx);
    runDueTasks(ctx);
  }
  return { state: ctx.state, effects: ctx.effects };
}

function apply(ctx: StepSet, event: SetEvent): void {
  const { state } = ctx;
  switch (event.type) {
    case "start":
      if (state.isStarted) return;
      state.isStarted = true;
      state.stopping = false;
      state.hasLeft = false;
      state.watchUp = false;
      state.isContiguous = false;
      state.mustList = true;
      return;
    case "stop":
      state.stopping = true;
      return;
    case "joined":
      state.membership = { kind: "held", me: event.me, isEnding: false };
      return;
    case "lease-ending":
      if (state.membership.kind === "held") state.membership = { ...state.membership, isEnding: true };
      return;
    case "lease-lost":
      if (state.membership.kind !== "held") return;
      loseAll(ctx, event.reason);
      state.membership = { kind: "lost" };
      return;
    case "step-down":
      stepDown(ctx, event.shard);
      return;
    case "work-stopped":
      workStopped(ctx, event.shard, event.token);
      return;
    case "answer":
      handleAnswer(ctx, event.id, event.answer);
      return;
    case "map-observed": {
      const isOutdated = isOutdatedMap(state, event.view);
      covered(ctx, event.view.revision);
      if (!isOutdated) observeMap(ctx, event.view);
      return;
    }
    case "map-deleted":
      covered(ctx, event.revision);
      observeMapDeleted(ctx, event.revision);
      return;
    case "lease-observed":
      covered(ctx, event.view.revision);
      observeLease(ctx, event.view);
      return;
    case "lease-deleted":
      covered(ctx, event.revision);
      observeLeaseDeleted(ctx, event.name, event.revision);
      return;
    case "gap":
      state.isContiguous = false;
      state.gaps += 1;
      state.mustList = true;
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

/** The watch reports changes in order, so all changes before this one are known, unless there was a gap. */
function covered(ctx: StepSet, revision: bigint): void {
  ctx.state.lastContactMs = ctx.at.monoMs;
  if (ctx.state.isContiguous && revision > ctx.state.revision) ctx.state.revision = revision;
}

/** Draws the consequences of whatever has changed. */
function settle(ctx: StepSet): void {
  trackGoneLeases(ctx);
  followMap(ctx);
  const { state } = ctx;
  const { membership } = state;
  const isIdle = state.terms.size === 0;
  if (membership.kind === "lost" && isIdle) {
    state.membership = { kind: "none" };
    ctx.effects.push({ type: "membership-stopped" });
  }
  if (membership.kind === "held" && isLeaving(ctx) && isIdle && !state.inFlight && !isInMap(state)) {
    if (membership.isEnding) {
      state.membership = { kind: "none" };
      ctx.effects.push({ type: "membership-stopped" });
    } else if (!state.hasLeft) leave(ctx);
  }
  if (state.membership.kind === "none" && state.stopping) {
    if (!state.hasLeft) leave(ctx);
    // Nothing is left to do. The caller ends the run when the member lease has ended.
    if (!state.inFlight) state.isStarted = false;
  }
}

function leave(ctx: StepSet): void {
  ctx.state.hasLeft = true;
  ctx.effects.push({ type: "leave" });
}

function isInMap({ map, membership }: SetState): boolean {
  return (
    map.kind === "present" &&
    membership.kind === "held" &&
    memberOf(map.view.map, membership.me) !== undefined
  );
}

function handleAnswer(ctx: StepSet, id: number, answer: SetAnswer): void {
  const { state } = ctx;
  const request = state.inFlight?.id === id ? state.inFlight : undefined;
  if (request) state.inFlight = undefined;
  // A view counts even if it arrives late. A list does not: what it does not show may have been created since.
  if (answer.kind === "map" && !isOutdatedMap(state, answer.view)) observeMap(ctx, answer.view);
  if (answer.kind === "lease") observeLease(ctx, answer.view);
  if (!request) return;
  switch (answer.kind) {
    case "listed":
      state.lastContactMs = ctx.at.monoMs;
      state.lastListMs = request.sentMs;
      observeList(ctx, answer.view, request.revision);
      if (request.gaps === state.gaps) {
        state.isContiguous = true;
        state.mustList = false;
      }
      resetBackoff(ctx);
      return;
    case "removed":
      if (request.removed) observeRemoved(ctx, request.removed);
      resetBackoff(ctx);
      return;
    case "map":
    case "lease":
      state.lastContactMs = ctx.at.monoMs;
      resetBackoff(ctx);
      return;
    case "gone":
    case "conflict":
      // Somebody else wrote first.
      state.mustList = true;
      state.failures += 1;
      state.retryAtMs =
        ctx.at.monoMs + (state.failures === 1 ? ctx.random * conflictSpreadMs : retryDelayMs(ctx));
      return;
    case "failed":
      handleFailure(ctx, request.kind, answer.failure);
      return;
  }
}

function handleFailure(ctx: StepSet, during: SetRequest, failure: Failure): void {
  ctx.effects.push({ type: "failed", during, failure });
  ctx.state.failures += 1;
  ctx.state.retryAtMs =
    ctx.at.monoMs +
    Math.max(retryDelayMs(ctx), Math.min(failure.retryAfterMs ?? 0, ctx.config.retryPeriodMs));
  // A write may have been committed.
  ctx.state.mustList = true;
}

function resetBackoff(ctx: StepSet): void {
  ctx.state.failures = 0;
  ctx.state.retryAtMs = ctx.at.monoMs;
}

function retryDelayMs(ctx: StepSet): number {
  const policy = { firstMs: firstRetryMs, mostMs: ctx.config.retryPeriodMs, jitter: 0.5 };
  return backoffMs(policy, ctx.state.failures, ctx.random);
}

/** Each task moves its own agenda entry into the future, so the loop ends. The limit only guards against a bug here. */
function runDueTasks(ctx: StepSet): void {
  for (let turns = 0; turns < 5_000; turns++) {
    const { monoMs } = ctx.at;
    const due = setAgenda(ctx.config, ctx.state, monoMs).find(({ atMs }) => atMs <= monoMs);
    if (!due) return;
    runTask(ctx, due.task);
  }
  throw new Error(
    "bug in @tenure/core: a task of a set of shards did not move its agenda entry into the future",
  );
}

function runTask(ctx: StepSet, task: SetTask): void {
  const { state } = ctx;
  switch (task.name) {
    case "time-out-request": {
      const { id, kind } = state.inFlight as SetInFlight;
      ctx.effects.push({ type: "cancel", id });
      state.inFlight = undefined;
      handleFailure(ctx, kind, { kind: "timeout", message: "the API server did not respond in time" });
      return;
    }
    case "list":
      ctx.effects.push({ type: "list", ...startRequest(ctx, "list") });
      return;
    case "write": {
      const request = startRequest(ctx, "write");
      const write = `${ctx.config.identity} ${request.id} ${Math.floor(ctx.random * 1e9)}`;
      for (const shard of task.reclaimed) markReclaimed(ctx, shard, task.over?.revision ?? 0n);
      ctx.effects.push({ type: "write", over: task.over, map: { ...task.map, write }, ...request });
      return;
    }
    case "fence":
      ctx.effects.push({
        type: "fence",
        over: task.over,
        record: fenceRecord(ctx, task.over),
        ...startRequest(ctx, "fence"),
      });
      return;
    case "remove":
      ctx.effects.push({ type: "remove", over: task.over, ...startRequest(ctx, "remove", task.over) });
      return;
    case "overrun": {
      const term = state.terms.get(task.shard);
      if (term) ctx.terms().set(task.shard, { ...term, untilMs: Number.POSITIVE_INFINITY });
      ctx.effects.push({ type: "overrun", shard: task.shard });
      return;
    }
    case "wake":
      throw new Error("bug in @tenure/core: woken to do nothing");
  }
}

function startRequest(
  ctx: StepSet,
  kind: SetRequest,
  removed?: LeaseView,
): { id: number; timeoutMs: number } {
  const { state } = ctx;
  const id = state.nextId;
  const timeoutMs = ctx.config.attemptTimeoutMs;
  state.nextId += 1;
  state.inFlight = {
    id,
    kind,
    timeoutAtMs: ctx.at.monoMs + timeoutMs,
    gaps: state.gaps,
    revision: state.revision,
    sentMs: ctx.at.monoMs,
    ...(removed && { removed }),
  };
  return { id, timeoutMs };
}

function markReclaimed(ctx: StepSet, shard: number, over: bigint): void {
  const term = ctx.state.terms.get(shard);
  if (term) ctx.terms().set(shard, { ...term, reclaimedOver: over });
}

/** What the member itself would write to release its lease. */
function fenceRecord(ctx: StepSet, { record }: LeaseView) {
  const now = microTime(ctx.at.wallMs, ctx.random);
  return {
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: nextTransitions(record.leaseTransitions),
  };
}
