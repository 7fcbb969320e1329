/**
 * Runs the two state machines of a member: the election of its lease, and the set of shards. It performs their effects, passes
 * events to them, and wakes them. It makes no decision of its own, so whatever the simulator proves about them holds here.
 */
import { type Clock, type Instant, messageOf } from "@tenure/base";
import {
  type Config,
  type Failure,
  initialSetState,
  nextSetWakeMs,
  type RequestKind,
  type SetAnswer,
  type SetConfig,
  type SetEffect,
  type SetEvent,
  type SetRequest,
  type SetState,
  setEventOf,
  stepSet,
} from "@tenure/core";
import { Candidate, type Notice } from "../candidate.ts";
import type { SetObserver, SetStore } from "./set-store.ts";

/** What the owner is notified of. */
export type MemberNotice =
  | Extract<
      SetEffect,
      { type: "shard-started" | "shard-ending" | "shard-lost" | "shard-ended" | "assignment-changed" }
    >
  /** The work of a shard takes too long to stop. */
  | { readonly type: "overrun"; readonly shard: number }
  /** The member lease was renewed: all work may run longer. */
  | { readonly type: "renewed" }
  /** The member lease is over: no work may run any more. */
  | { readonly type: "expired" }
  /** The hard deadline of the member lease has passed, and work still runs. */
  | { readonly type: "hard-deadline" }
  | {
      readonly type: "failed";
      readonly during: SetRequest | RequestKind | "watch";
      readonly failure: Failure;
    }
  | { readonly type: "refused"; readonly reason: "duplicate-identity" | "denied"; readonly message: string }
  | { readonly type: "stopped" };

export interface MemberParts {
  readonly lease: Config;
  readonly set: SetConfig;
  readonly store: SetStore;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onNotice: (notice: MemberNotice) => void;
}

export class SetMember {
  readonly #parts: MemberParts;
  readonly #candidate: Candidate;
  readonly #leaseName: string;
  readonly #watch = new AbortController();
  readonly #requests = new Map<number, AbortController>();
  readonly #queue: SetEvent[] = [];
  #state: SetState = initialSetState;
  #isStepping = false;
  #hasStopped = false;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    const { name, lock } = parts.store.memberLease(parts.lease.identity);
    this.#leaseName = name;
    const { lease: config, clock, random } = parts;
    this.#candidate = new Candidate({
      config,
      lock,
      clock,
      random,
      onNotice: (notice) => this.#onNotice(notice),
    });
  }

  get state(): SetState {
    return this.#state;
  }

  /** Until when the work of all shards may run, by both clocks; undefined if it must not run. */
  validUntil(): Instant | undefined {
    return this.#candidate.validUntil();
  }

  /** When the store last sent an answer or a watch event, in monotonic milliseconds. */
  lastContactMs(): number {
    return Math.max(this.#state.lastContactMs, this.#candidate.lastContactMs());
  }

  start(): void {
    this.#dispatch({ type: "start" });
    this.#startWatch();
    this.#candidate.send({ type: "start" });
  }

  stop(): void {
    this.#dispatch({ type: "stop" });
  }

  stepDown(shard: number): void {
    this.#dispatch({ type: "step-down", shard });
  }

  workStopped(shard: number, token: bigint): void {
    this.#dispatch({ type: "work-stopped", shard, token });
  }

  #onNotice(notice: Notice): void {
    const { onNotice, set } = this.#parts;
    switch (notice.type) {
      case "renewed":
        onNotice({ type: "renewed" });
        return;
      case "term-expired":
        onNotice({ type: "expired" });
        return;
      case "overrun":
        onNotice({ type: "hard-deadline" });
        return;
      case "failed":
        onNotice(notice);
        return;
      case "watch-failed":
        onNotice({ type: "failed", during: "watch", failure: notice.failure });
        return;
      case "refused":
      case "stopped":
        this.#end();
        onNotice(notice);
        return;
      case "answered":
      case "standing":
        return;
      default: {
        const event = setEventOf(set, this.#leaseName, notice, this.#candidate.state);
        if (event) this.#dispatch(event);
      }
    }
  }

  /** An owner may report stopped work while it handles a notice, which is within a step. Such events wait. */
  #dispatch(event: SetEvent): void {
    if (this.#hasStopped) return;
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) this.#step(next);
    } finally {
      this.#isStepping = false;
      this.#setTimer();
    }
  }

  #step(event: SetEvent): void {
    const { set, clock, random } = this.#parts;
    const { state, effects } = stepSet(set, this.#state, event, clock.now(), random());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: SetEffect): void {
    const { store, onNotice } = this.#parts;
    switch (effect.type) {
      case "list":
        this.#request(effect.id, (signal) => store.list(signal, effect.timeoutMs));
        return;
      case "write":
        this.#request(effect.id, (signal) => store.write(effect.map, effect.over, signal, effect.timeoutMs));
        return;
      case "fence":
        this.#request(effect.id, (signal) =>
          store.fence(effect.record, effect.over, signal, effect.timeoutMs),
        );
        return;
      case "remove":
        this.#request(effect.id, (signal) => store.remove(effect.over, signal, effect.timeoutMs));
        return;
      case "cancel":
        this.#requests.get(effect.id)?.abort();
        this.#requests.delete(effect.id);
        return;
      case "membership-stopped":
        this.#candidate.send({ type: "work-stopped", cooldownMs: 0 });
        return;
      case "leave":
        this.#candidate.send({ type: "stop" });
        return;
      default:
        onNotice(effect);
    }
  }

  #request(id: number, send: (signal: AbortSignal) => Promise<SetAnswer>): void {
    const controller = new AbortController();
    this.#requests.set(id, controller);
    const onAnswer = (answer: SetAnswer) => {
      this.#requests.delete(id);
      this.#dispatch({ type: "answer", id, answer });
    };
    send(controller.signal).then(onAnswer, (error) => {
      onAnswer({ kind: "failed", failure: { kind: "server", message: messageOf(error) } });
    });
  }

  #startWatch(): void {
    const { signal } = this.#watch;
    let hasBeenUp = false;
    const observer: SetObserver = {
      changed: (event) => this.#dispatch(event),
      gap: () => this.#dispatch({ type: "gap" }),
      up: (isGapless) => {
        this.#dispatch({ type: "watch-up" });
        // Also at the start: the first list may be older than the beginning of the watch.
        if (!isGapless || !hasBeenUp) this.#dispatch({ type: "gap" });
        hasBeenUp = true;
      },
      down: (failure) => {
        this.#dispatch({ type: "watch-down" });
        if (!signal.aborted) this.#parts.onNotice({ type: "failed", during: "watch", failure });
      },
    };
    this.#parts.store.watch(observer, signal);
  }

  #setTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#hasStopped) return;
    const { set, clock } = this.#parts;
    const wakeMs = nextSetWakeMs(set, this.#state, clock.now().monoMs);
    if (Number.isFinite(wakeMs)) this.#cancelTimer = clock.at(wakeMs, () => this.#dispatch({ type: "tick" }));
  }

  /** The member lease has ended. Nothing of this member is left to do. */
  #end(): void {
    this.#hasStopped = true;
    this.#cancelTimer?.();
    this.#watch.abort();
    for (const controller of this.#requests.values()) controller.abort();
  }
}
