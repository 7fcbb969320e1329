/**
 * Runs a machine of core that sends one request at a time beside the lock: performs its effects, passes the answers to it and wakes
 * it. It decides nothing itself.
 */
import { type Clock, messageOf, within } from "@tenure/base";
import type { Failure } from "@tenure/core";

/** Resolves with why it failed. */
type Request = (signal: AbortSignal) => Promise<Failure | undefined>;

export interface SideMachine<State, Event, Effect> {
  readonly initial: State;
  readonly clock: Clock;
  step(state: State, event: Event): { readonly state: State; readonly effects: readonly Effect[] };
  /** When it wants to be woken, in monotonic milliseconds. */
  nextMs(state: State): number;
  /** Performs an effect, or returns the request if the effect is to send one. "gone": nothing is left to do. */
  perform(effect: Effect): Request | "gone" | undefined;
}

/** How long the end of a run waits for the last request. A shutdown must not take longer because of it. */
const farewellMs = 500;

type CommonEvent =
  | { readonly type: "stop" | "tick" }
  | { readonly type: "answer"; readonly failure: Failure | undefined };

export class SideRequests<State extends { readonly phase: string }, Event, Effect> {
  readonly #machine: SideMachine<State, Event | CommonEvent, Effect>;
  #state: State;
  #request: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #onGone = (): void => {};

  constructor(machine: SideMachine<State, Event | CommonEvent, Effect>) {
    this.#machine = machine;
    this.#state = machine.initial;
  }

  get state(): State {
    return this.#state;
  }

  send(event: Event | CommonEvent): void {
    const { clock, step, nextMs } = this.#machine;
    const { state, effects } = step(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer?.();
    const wakeMs = nextMs(this.#state);
    this.#cancelTimer = Number.isFinite(wakeMs)
      ? clock.at(wakeMs, () => this.send({ type: "tick" }))
      : undefined;
  }

  /** Resolves when the machine has removed what it wrote, or soon if that does not succeed. Never rejects. */
  async stop(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve;
    });
    // What an unanswered request did is not known, so what it may have written is removed either way.
    const pending = this.#request;
    this.send({ type: "stop" });
    pending?.abort();
    if (this.#state.phase === "leaving") await within(this.#machine.clock, farewellMs, gone);
    this.#request?.abort();
  }

  #perform(effect: Effect): void {
    const request = this.#machine.perform(effect);
    if (request === "gone") this.#onGone();
    else if (request) this.#send(request);
  }

  #send(request: Request): void {
    const controller = new AbortController();
    this.#request = controller;
    const answer = (failure: Failure | undefined) => {
      if (this.#request === controller) this.#request = undefined;
      this.send({ type: "answer", failure });
    };
    request(controller.signal).then(answer, (error) => answer({ kind: "server", message: messageOf(error) }));
  }
}
