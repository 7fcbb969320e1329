/**
 * When a candidate of a coordinated election writes its LeaseCandidate, as a pure state machine. The API server names one of the
 * candidates in the lock. It asks a candidate that it has not heard of for a while whether it is alive, by pingTime, and the candidate
 * must answer by renewTime within 5 s.
 */
import { backoffMs, type Instant } from "@tenure/base";
import type { Failure } from "../types.ts";

export const candidacyTimings = {
  /** The API server deletes a LeaseCandidate after 30 min of silence. client-go renews every 5 min. */
  renewMs: 300_000,
  firstRetryMs: 200,
  /** The API server waits 5 s for an answer to its ping. */
  mostRetryMs: 2_000,
} as const;

export interface CandidacyState {
  readonly phase: "absent" | "present" | "leaving" | "gone";
  /** The last pingTime of the API server, by its clock. */
  readonly pingMs: number;
  /** The renewTime of the last write that was answered, as it was written. */
  readonly renewedMs: number;
  /** When that write was sent, by the monotonic clock. */
  readonly sentMs: number;
  readonly retryAtMs: number;
  readonly failures: number;
  readonly mayExist: boolean;
  readonly inFlight: { readonly type: "renew" | "remove"; readonly renewMs: number } | undefined;
}

export const initialCandidacy: CandidacyState = {
  phase: "absent",
  pingMs: Number.NEGATIVE_INFINITY,
  renewedMs: Number.NEGATIVE_INFINITY,
  sentMs: Number.NEGATIVE_INFINITY,
  retryAtMs: Number.NEGATIVE_INFINITY,
  failures: 0,
  mayExist: false,
  inFlight: undefined,
};

export type CandidacyEvent =
  | { readonly type: "start" }
  /** The LeaseCandidate has this pingTime. */
  | { readonly type: "observed"; readonly pingTime: string | undefined }
  /** Somebody deleted the LeaseCandidate. */
  | { readonly type: "deleted" }
  | { readonly type: "answer"; readonly failure?: Failure | undefined }
  | { readonly type: "stop" }
  | { readonly type: "tick" };

export type CandidacyEffect =
  /** Creates the LeaseCandidate, or sets its renewTime. */
  | { readonly type: "renew"; readonly renewMs: number }
  | { readonly type: "remove" }
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "gone" };

export function stepCandidacy(
  before: CandidacyState,
  event: CandidacyEvent,
  at: Instant,
  random: number,
): { readonly state: CandidacyState; readonly effects: readonly CandidacyEffect[] } {
  const effects: CandidacyEffect[] = [];
  const state = note(before, event, at, random, effects);
  if (state.inFlight !== undefined) return { state, effects };
  if (state.phase === "leaving") {
    if (!state.mayExist)
      return { state: { ...state, phase: "gone" }, effects: [...effects, { type: "gone" }] };
    const inFlight = { type: "remove", renewMs: 0 } as const;
    return { state: { ...state, inFlight }, effects: [...effects, { type: "remove" }] };
  }
  if (state.phase !== "present" || at.monoMs < renewAtMs(state)) return { state, effects };
  // The server compares this time with its own ping. A clock that is behind the server's would never answer a ping.
  const renewMs = Math.max(at.wallMs, state.pingMs + 1);
  const inFlight = { type: "renew", renewMs } as const;
  return {
    state: { ...state, inFlight, mayExist: true, sentMs: at.monoMs },
    effects: [...effects, { type: "renew", renewMs }],
  };
}

function note(
  state: CandidacyState,
  event: CandidacyEvent,
  at: Instant,
  random: number,
  effects: CandidacyEffect[],
): CandidacyState {
  switch (event.type) {
    case "start":
      if (state.phase === "present") return state;
      return { ...initialCandidacy, phase: "present", inFlight: state.inFlight, mayExist: state.mayExist };
    case "stop":
      return state.phase === "present" ? { ...state, phase: "leaving" } : state;
    case "observed": {
      const pingMs = Date.parse(event.pingTime ?? "");
      return Number.isNaN(pingMs) ? state : { ...state, pingMs: Math.max(state.pingMs, pingMs) };
    }
    case "deleted":
      return { ...state, renewedMs: Number.NEGATIVE_INFINITY };
    case "answer":
      return noteAnswer(state, event.failure, at, random, effects);
    case "tick":
      return state;
  }
}

function noteAnswer(
  state: CandidacyState,
  failure: Failure | undefined,
  at: Instant,
  random: number,
  effects: CandidacyEffect[],
): CandidacyState {
  const { inFlight } = state;
  const answered = { ...state, inFlight: undefined };
  // It is tried once. The API server removes what is left.
  if (inFlight?.type === "remove") return { ...answered, mayExist: false };
  if (failure === undefined)
    return {
      ...answered,
      renewedMs: inFlight?.renewMs ?? state.renewedMs,
      failures: 0,
      retryAtMs: at.monoMs,
    };
  effects.push({ type: "failed", failure });
  const failures = state.failures + 1;
  const { firstRetryMs: firstMs, mostRetryMs: mostMs } = candidacyTimings;
  const retryAtMs = at.monoMs + backoffMs({ firstMs, mostMs, jitter: 0.5 }, failures, random);
  return { ...answered, failures, retryAtMs };
}

function renewAtMs({ renewedMs, pingMs, sentMs, retryAtMs, failures }: CandidacyState): number {
  const isAsked = renewedMs === Number.NEGATIVE_INFINITY || pingMs > renewedMs || failures > 0;
  return isAsked ? retryAtMs : Math.max(sentMs + candidacyTimings.renewMs, retryAtMs);
}

/** When the owner must send a "tick" if no other event happens before, in monotonic milliseconds. */
export function nextCandidacyMs(state: CandidacyState): number {
  return state.phase === "present" && state.inFlight === undefined
    ? renewAtMs(state)
    : Number.POSITIVE_INFINITY;
}
