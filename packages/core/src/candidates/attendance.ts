/**
 * When a candidate shows itself to operators, as a pure state machine. It writes what the candidate is doing at most twice a minute,
 * and removes it when the candidate stops. No election reads what it writes, so nothing here can make two candidates lead, nor
 * keep one from leading: if its requests fail, operators see less, and that is all.
 */
import type { Failure } from "../types.ts";
import { type Standing, sameStanding } from "./standing.ts";

/** What happens after how long. */
export const attendanceTimings = {
  /** A candidate with nothing new to say writes this often, to show that it still takes part. */
  heartbeatMs: 60_000,
  /** The shortest time between two writes. */
  leastGapMs: 30_000,
  /** The first write waits this long until the candidate leads or knows why it does not. */
  patienceMs: 2_000,
  /** Nothing is written this long after a change: a handover that is under way has more important requests. */
  calmMs: 1_000,
  /** A candidate that stops is removed after this pause: its successor acquires the lock meanwhile. */
  farewellPauseMs: 30,
  /** A missing permission is not granted within seconds. */
  deniedRetryMs: 600_000,
  /** The leader looks this often for what candidates left behind. */
  sweepMs: 600_000,
  /** Two heartbeats may be missed. After that a candidate does not count as present. */
  leaseSeconds: 150,
  /** The leader removes what a candidate left behind when it was silent for this long. */
  forgottenMs: 3_600_000,
} as const;

type AttendanceRequest = "publish" | "withdraw" | "sweep";

export interface AttendanceState {
  readonly phase: "absent" | "present" | "leaving" | "gone";
  readonly standing: Standing;
  /** Since when that is its standing, or since when it is leaving. */
  readonly sinceMs: number;
  readonly published: Standing | undefined;
  /** Whether anything may have been written, also by a request whose answer got lost. */
  readonly mayExist: boolean;
  readonly startedMs: number;
  /** When the last write was sent. */
  readonly sentMs: number;
  /** No request is sent before this time. */
  readonly retryAtMs: number;
  readonly sweepAtMs: number;
  readonly inFlight: AttendanceRequest | undefined;
  /** A missing permission was reported. */
  readonly isDenialReported: boolean;
}

export const initialAttendance: AttendanceState = {
  phase: "absent",
  standing: { name: "starting", reason: "has not read the lock yet" },
  sinceMs: Number.NEGATIVE_INFINITY,
  published: undefined,
  mayExist: false,
  startedMs: 0,
  sentMs: Number.NEGATIVE_INFINITY,
  retryAtMs: Number.NEGATIVE_INFINITY,
  sweepAtMs: Number.NEGATIVE_INFINITY,
  inFlight: undefined,
  isDenialReported: false,
};

export type AttendanceEvent =
  | { readonly type: "start" }
  | { readonly type: "standing"; readonly standing: Standing }
  /** The request in flight was answered. */
  | { readonly type: "answer"; readonly failure?: Failure | undefined }
  | { readonly type: "stop" }
  | { readonly type: "tick" };

export type AttendanceEffect =
  | { readonly type: "publish"; readonly standing: Standing }
  | { readonly type: "withdraw" }
  /** Removes what other candidates left behind. */
  | { readonly type: "sweep" }
  /** Tells the owner of the election, once. */
  | { readonly type: "report"; readonly failure: Failure }
  /** Nothing is left to do. */
  | { readonly type: "gone" };

export interface AttendanceStep {
  readonly state: AttendanceState;
  readonly effects: readonly AttendanceEffect[];
}

export function stepAttendance(
  before: AttendanceState,
  event: AttendanceEvent,
  nowMs: number,
): AttendanceStep {
  const effects: AttendanceEffect[] = [];
  const noted = note(before, event, nowMs, effects);
  const due = dueRequest(noted, nowMs);
  if (due === undefined) return { state: noted, effects };
  if (due === "gone") return { state: { ...noted, phase: "gone" }, effects: [...effects, { type: "gone" }] };
  const { standing } = noted;
  const sent: AttendanceState = { ...noted, inFlight: due };
  if (due === "sweep") {
    const sweepAtMs = nowMs + attendanceTimings.sweepMs;
    return { state: { ...sent, sweepAtMs }, effects: [...effects, { type: "sweep" }] };
  }
  if (due === "withdraw") return { state: sent, effects: [...effects, { type: "withdraw" }] };
  return {
    state: { ...sent, sentMs: nowMs, mayExist: true, published: standing },
    effects: [...effects, { type: "publish", standing }],
  };
}

function note(
  state: AttendanceState,
  event: AttendanceEvent,
  nowMs: number,
  effects: AttendanceEffect[],
): AttendanceState {
  switch (event.type) {
    case "start":
      if (state.phase === "present") return state;
      return {
        ...initialAttendance,
        phase: "present",
        startedMs: nowMs,
        // A run that follows another one at once does not write more often.
        sentMs: state.sentMs,
        isDenialReported: state.isDenialReported,
        inFlight: state.inFlight,
      };
    case "standing":
      return sameStanding(state.standing, event.standing)
        ? state
        : { ...state, standing: event.standing, sinceMs: nowMs };
    case "stop":
      return state.phase === "present" ? { ...state, phase: "leaving", sinceMs: nowMs } : state;
    case "answer":
      return noteAnswer({ ...state, inFlight: undefined }, state.inFlight, event.failure, nowMs, effects);
    case "tick":
      return state;
  }
}

function noteAnswer(
  state: AttendanceState,
  during: AttendanceRequest | undefined,
  failure: Failure | undefined,
  nowMs: number,
  effects: AttendanceEffect[],
): AttendanceState {
  // It is tried once. What is left then ages out.
  if (during === "withdraw") {
    if (failure?.kind === "denied" && !state.isDenialReported) effects.push({ type: "report", failure });
    return { ...state, mayExist: false };
  }
  if (failure === undefined) return state;
  const isDenied = failure.kind === "denied";
  const { deniedRetryMs, leastGapMs } = attendanceTimings;
  if (isDenied && !state.isDenialReported) effects.push({ type: "report", failure });
  return {
    ...state,
    isDenialReported: state.isDenialReported || isDenied,
    ...(during === "publish" && {
      published: undefined,
      retryAtMs: nowMs + (isDenied ? deniedRetryMs : leastGapMs),
      // A denied write did not happen.
      ...(isDenied && { mayExist: false }),
    }),
  };
}

/** What is to be done now. */
function dueRequest(state: AttendanceState, nowMs: number): AttendanceRequest | "gone" | undefined {
  if (state.inFlight !== undefined) return undefined;
  if (state.phase === "leaving" && !state.mayExist) return "gone";
  if (state.phase === "leaving") return nowMs >= withdrawAtMs(state) ? "withdraw" : undefined;
  if (state.phase !== "present") return undefined;
  if (nowMs >= publishAtMs(state)) return "publish";
  return nowMs >= sweepAtMs(state) ? "sweep" : undefined;
}

function withdrawAtMs({ sinceMs }: AttendanceState): number {
  return sinceMs + attendanceTimings.farewellPauseMs;
}

function publishAtMs(state: AttendanceState): number {
  const { heartbeatMs, leastGapMs, patienceMs, calmMs } = attendanceTimings;
  const gapMs = sameStanding(state.published, state.standing) ? heartbeatMs : leastGapMs;
  const isUnsettled = state.standing.name === "starting" || state.standing.name === "acquiring";
  const isSilent = state.published === undefined && isUnsettled;
  return Math.max(
    state.sentMs + gapMs,
    state.retryAtMs,
    isSilent ? state.startedMs + patienceMs : state.startedMs,
    state.published === undefined ? state.startedMs : state.sinceMs + calmMs,
  );
}

function sweepAtMs({ standing, sinceMs, sweepAtMs: atMs, published }: AttendanceState): number {
  // Not before its own write has shown that it has the permission.
  if (standing.name !== "leading" || published === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(atMs, sinceMs + attendanceTimings.calmMs);
}

/** When the owner must send a "tick" if no other event happens before, in monotonic milliseconds. */
export function nextAttendanceMs(state: AttendanceState): number {
  if (state.inFlight !== undefined) return Number.POSITIVE_INFINITY;
  if (state.phase === "leaving") return withdrawAtMs(state);
  if (state.phase !== "present") return Number.POSITIVE_INFINITY;
  return Math.min(publishAtMs(state), sweepAtMs(state));
}
