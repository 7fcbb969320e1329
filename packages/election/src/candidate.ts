/**
 * Runs the state machine of core against a lock, a clock and a random source: performs its effects, feeds it events, and
 * wakes it when it asked to be woken. Makes no decision of its own, so that what the simulator proves of core holds here.
 *
 * Does not know what the work is: it tells its owner what happened to the term, and is told when the work has stopped.
 */

import type { Clock } from "@tenure/base";
import {
  type Answer,
  type Config,
  type Effect,
  type Event,
  type Failure,
  type Instant,
  initialState,
  leaderAt,
  nextWakeMs,
  type State,
  step,
  termOf,
  validUntil,
  type WritePurpose,
} from "@tenure/core";
import { onClockJump } from "./clock-jumps.ts";
import type { Engine } from "./engine.ts";
import type { Lock, LockObserver } from "./lock.ts";

/** What concerns the owner rather than the lock. */
export type Notice =
  | Exclude<Effect, { type: "read" | "write" | "cancel" }>
  | { readonly type: "answered"; readonly during: "read" | WritePurpose; readonly tookMs: number }
  /** Without a watch the lock is polled; why there is none may be something that a person can mend. */
  | { readonly type: "watch-failed"; readonly failure: Failure };

/** The events that the owner may cause. */
export type Command = Extract<Event, { type: "start" | "stop" | "step-down" | "work-stopped" }>;

export interface CandidateParts {
  readonly config: Config;
  readonly lock: Lock;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onNotice: (notice: Notice) => void;
  /** After every step, when `validUntil` may be another one. */
  readonly onStep?: () => void;
}

export class Candidate implements Engine {
  readonly #parts: CandidateParts;
  readonly #requests = new Map<number, AbortController>();
  readonly #queue: Event[] = [];
  #state: State = initialState;
  #isStepping = false;
  #watch: AbortController | undefined;
  #endGuard: (() => void) | undefined;
  #cancelTimer: (() => void) | undefined;
  #timerMs = Number.POSITIVE_INFINITY;

  constructor(parts: CandidateParts) {
    this.#parts = parts;
  }

  get state(): State {
    return this.#state;
  }

  /** Until when the term's work may run. */
  validUntil(): Instant | undefined {
    return validUntil(this.#parts.config, this.#state);
  }

  heardAtMs(): number {
    return this.#state.lastContactMs;
  }

  leader(): string | undefined {
    return leaderAt(this.#parts.config, this.#state, this.#parts.clock.now());
  }

  send(command: Command): void {
    if (command.type === "start") this.#startWatch();
    this.#dispatch(command);
  }

  /** An owner that answers a notice with a command does so within a step; such events wait for their turn. */
  #dispatch(event: Event): void {
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#step(next);
    } finally {
      // Also when the owner threw: a leader without its timers would never learn that its time is over.
      this.#isStepping = false;
      this.#setTimer();
      this.#guardAgainstSuspension();
    }
  }

  #step(event: Event): void {
    const { config, clock, random } = this.#parts;
    const { state, effects } = step(config, this.#state, event, clock.now(), random());
    this.#state = state;
    this.#parts.onStep?.();
    for (const effect of effects) if (!isTheEnd(effect)) this.#perform(effect);
    // Last, whatever else the step tells: nothing is told after the end.
    for (const effect of effects) if (isTheEnd(effect)) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    const { lock, onNotice } = this.#parts;
    switch (effect.type) {
      case "read":
        this.#request(effect.id, "read", (signal) => lock.read(signal));
        return;
      case "write":
        this.#request(effect.id, effect.purpose, (signal) => lock.write(effect.record, effect.over, signal));
        return;
      case "cancel":
        this.#requests.get(effect.id)?.abort();
        this.#requests.delete(effect.id);
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

  #request(id: number, during: "read" | WritePurpose, send: (signal: AbortSignal) => Promise<Answer>): void {
    const { clock, onNotice } = this.#parts;
    const sentMs = clock.now().monoMs;
    const controller = new AbortController();
    this.#requests.set(id, controller);
    const answered = (answer: Answer) => {
      this.#requests.delete(id);
      if (answer.kind !== "failed")
        onNotice({ type: "answered", during, tookMs: clock.now().monoMs - sentMs });
      this.#dispatch({ type: "answer", id, answer });
    };
    attempt(() => send(controller.signal)).then(answered, (error) => {
      answered({ kind: "failed", failure: defectOf(error) });
    });
  }

  #startWatch(): void {
    if (this.#watch || !this.#parts.lock.watch) return;
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    const unlessStopped = (event: Event) => {
      if (!signal.aborted) this.#dispatch(event);
    };
    const observer: LockObserver = {
      observed: (view) => unlessStopped({ type: "observed", view }),
      deleted: (revision) => unlessStopped({ type: "deleted", revision }),
      changed: () => unlessStopped({ type: "changed" }),
      up: () => unlessStopped({ type: "watch-up" }),
      down: (failure) => {
        unlessStopped({ type: "watch-down" });
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

  /** While there is a term, a jump of the wall clock against the monotonic one is noticed at once. */
  #guardAgainstSuspension(): void {
    const hasTerm = termOf(this.#state) !== undefined;
    if (hasTerm === (this.#endGuard !== undefined)) return;
    this.#endGuard?.();
    this.#endGuard = hasTerm
      ? onClockJump(this.#parts.clock, () => this.#dispatch({ type: "tick" }))
      : undefined;
  }

  #wake(): void {
    this.#timerMs = Number.POSITIVE_INFINITY;
    this.#cancelTimer = undefined;
    this.#dispatch({ type: "tick" });
  }
}

function isTheEnd({ type }: Effect): boolean {
  return type === "stopped" || type === "refused";
}

/** A lock that throws, as one that rejects. */
function attempt(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return send();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A lock that rejects has a defect; the election goes on and says so. */
function defectOf(error: unknown): Failure {
  return { kind: "server", message: error instanceof Error ? error.message : String(error) };
}
