/**
 * Runs the state machine of core with a lock, a clock and a random source: it performs the machine's effects, passes events to
 * it, and wakes it when the machine asks for that. It makes no decision of its own, so whatever the simulator proves about core
 * holds here.
 *
 * It does not know the work: it notifies its owner of what happens to the term, and the owner reports that the work has stopped.
 */
import { type Clock, type Instant, messageOf, onAbort } from "@tenure/base";
import {
  type Answer,
  type Config,
  type Effect,
  type Event,
  type Failure,
  initialState,
  leaderAt,
  nextWakeMs,
  type RequestKind,
  type Standing,
  type State,
  sameStanding,
  standingOf,
  step,
  termOf,
  validUntil,
} from "@tenure/core";
import { onClockJump } from "./clock-jumps.ts";
import type { Lock, LockObserver } from "./lock.ts";

/** What the owner is notified of. */
export type Notice =
  | Exclude<Effect, { type: "read" | "write" | "accept" | "cancel" }>
  | { readonly type: "answered"; readonly during: RequestKind; readonly tookMs: number }
  /** The lock is polled while there is no watch. The failure may be one that a person has to fix, such as a missing permission. */
  | { readonly type: "watch-failed"; readonly failure: Failure }
  /** What operators are told about this candidate has changed. Only if the owner asks for it. */
  | { readonly type: "standing"; readonly standing: Standing };

/** The events that the owner may send. */
export type Command = Extract<Event, { type: "start" | "stop" | "step-down" | "work-stopped" }>;

/** What an election needs from its candidate, which runs in this thread or in a worker thread. */
export interface CandidateHandle {
  send(command: Command): void;
  /** Until when the work may run, by both clocks; undefined if there is no term. */
  validUntil(): Instant | undefined;
  leader(): string | undefined;
  /** When the lock last sent an answer or a watch event, in monotonic milliseconds. */
  lastContactMs(): number;
}

export interface CandidateParts {
  readonly config: Config;
  readonly lock: Lock;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onNotice: (notice: Notice) => void;
  /** Called after every step, before the notices of the step: `validUntil` may have changed. */
  readonly onStep?: () => void;
  /** Whether to notify the owner of the standing of this candidate. @default false */
  readonly reportsStanding?: boolean;
}

export class Candidate implements CandidateHandle {
  readonly #parts: CandidateParts;
  /** Aborts the request in flight, of which the machine has one at most. */
  #request: AbortController | undefined;
  readonly #queue: Event[] = [];
  #state: State = initialState;
  #isStepping = false;
  #watch: AbortController | undefined;
  #stopJumpCheck: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #timerMs = Number.POSITIVE_INFINITY;
  #standing: Standing | undefined;

  constructor(parts: CandidateParts) {
    this.#parts = parts;
  }

  get state(): State {
    return this.#state;
  }

  validUntil(): Instant | undefined {
    return validUntil(this.#parts.config, this.#state);
  }

  lastContactMs(): number {
    return this.#state.lastContactMs;
  }

  leader(): string | undefined {
    return leaderAt(this.#parts.config, this.#state, this.#parts.clock.now());
  }

  send(command: Command): void {
    this.#dispatch(command);
    // After the first read was sent: the watch opens a connection of its own, for which the read need not wait.
    if (command.type === "start") this.#startWatch();
  }

  /** An owner may send a command while it handles a notice, which is within a step. Such events wait until the step is over. */
  #dispatch(event: Event): void {
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#step(next);
    } finally {
      // Even if the owner threw: a leader without its timers would never notice that its term is over.
      this.#isStepping = false;
      this.#setTimer();
      this.#checkForClockJumps();
    }
    this.#reportStanding();
  }

  #reportStanding(): void {
    const { config, clock, onNotice, reportsStanding = false } = this.#parts;
    if (!reportsStanding) return;
    const standing = standingOf(config, this.#state, clock.now());
    if (sameStanding(standing, this.#standing)) return;
    this.#standing = standing;
    onNotice({ type: "standing", standing });
  }

  #step(event: Event): void {
    const { config, clock, random } = this.#parts;
    const { state, effects } = step(config, this.#state, event, clock.now(), random());
    this.#state = state;
    this.#parts.onStep?.();
    // The end of the run comes last: the owner gets no notice after it.
    for (const effect of effects) if (!isEndOfRun(effect)) this.#perform(effect);
    for (const effect of effects) if (isEndOfRun(effect)) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { lock, onNotice } = this.#parts;
    switch (effect.type) {
      case "read":
        this.#send(effect.id, "read", (signal) => lock.read(signal, effect.timeoutMs));
        return;
      case "write":
        this.#send(effect.id, effect.purpose, (signal) =>
          lock.write(effect.record, effect.over, signal, effect.timeoutMs),
        );
        return;
      case "accept":
        this.#send(effect.id, "accept", (signal) => {
          if (!lock.acceptTransfer) throw new Error("this kind of lock does not support transfers");
          return lock.acceptTransfer(effect.over, signal, effect.timeoutMs);
        });
        return;
      case "cancel":
        this.#request?.abort();
        this.#request = undefined;
        return;
      case "stopped":
      case "refused":
        this.#watch?.abort();
        this.#watch = undefined;
        onNotice(effect);
        return;
      default:
        onNotice(effect);
    }
  }

  #send(id: number, during: RequestKind, send: (signal: AbortSignal) => Promise<Answer>): void {
    const { clock, onNotice } = this.#parts;
    const sentMs = clock.now().monoMs;
    this.#request ??= newRequestController();
    const { signal } = this.#request;
    const onAnswer = (answer: Answer) => {
      if (answer.kind !== "failed")
        onNotice({ type: "answered", during, tookMs: clock.now().monoMs - sentMs });
      this.#dispatch({ type: "answer", id, answer });
    };
    rejectIfThrown(() => send(signal)).then(onAnswer, (error) => {
      onAnswer({ kind: "failed", failure: defectOf(error) });
    });
  }

  #startWatch(): void {
    if (this.#watch || !this.#parts.lock.watch) return;
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    const dispatchUnlessStopped = (event: Event) => {
      if (!signal.aborted) this.#dispatch(event);
    };
    const observer: LockObserver = {
      observed: (view) => dispatchUnlessStopped({ type: "observed", view }),
      deleted: (revision) => dispatchUnlessStopped({ type: "deleted", revision }),
      changed: () => dispatchUnlessStopped({ type: "changed" }),
      up: () => dispatchUnlessStopped({ type: "watch-up" }),
      down: (failure) => {
        dispatchUnlessStopped({ type: "watch-down" });
        if (failure && !signal.aborted) this.#parts.onNotice({ type: "watch-failed", failure });
      },
    };
    try {
      this.#parts.lock.watch(observer, signal);
    } catch (error) {
      observer.down(defectOf(error));
    }
  }

  #setTimer(): void {
    const { config, clock } = this.#parts;
    const wakeMs = nextWakeMs(config, this.#state, clock.now());
    if (wakeMs === this.#timerMs) return;
    this.#cancelTimer?.();
    this.#timerMs = wakeMs;
    this.#cancelTimer = Number.isFinite(wakeMs) ? clock.at(wakeMs, () => this.#wake()) : undefined;
  }

  /** Checks for clock jumps while there is a term: timers stand still during a suspension, but the lease does not. */
  #checkForClockJumps(): void {
    const hasTerm = termOf(this.#state) !== undefined;
    if (hasTerm === (this.#stopJumpCheck !== undefined)) return;
    this.#stopJumpCheck?.();
    this.#stopJumpCheck = hasTerm
      ? onClockJump(this.#parts.clock, () => this.#dispatch({ type: "tick" }))
      : undefined;
  }

  #wake(): void {
    this.#timerMs = Number.POSITIVE_INFINITY;
    this.#cancelTimer = undefined;
    this.#dispatch({ type: "tick" });
  }
}

/**
 * Hardly any request is cancelled, and Node needs longer for a new signal, and for a listener on it, than the machine for its step. So a
 * signal serves until it aborts, and what `onAbort` puts on it stays there between the requests.
 */
function newRequestController(): AbortController {
  const controller = new AbortController();
  onAbort(controller.signal, () => {});
  return controller;
}

function isEndOfRun({ type }: Effect): boolean {
  return type === "stopped" || type === "refused";
}

function rejectIfThrown(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return send();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A lock that rejects or throws has a defect. The election reports it and goes on. */
function defectOf(error: unknown): Failure {
  return { kind: "server", message: messageOf(error) };
}
