/**
 * Runs the machine: one event after the other, with the time at which it is handled, and a tick when something is due. The
 * effects of one event are performed before the next event, in order.
 */
import type { Clock } from "@tenure/base";
import { nextWakeMs } from "./machine/agenda.ts";
import { initialState, step } from "./machine/step.ts";
import type { Config, Effect, Event, State } from "./machine/types.ts";

export class MachineLoop {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #perform: (effect: Effect) => void;
  readonly #events: Event[] = [];
  #state: State = initialState;
  #isBusy = false;
  #isClosed = false;
  #cancelTick = () => {};

  constructor(config: Config, clock: Clock, perform: (effect: Effect) => void) {
    this.#config = config;
    this.#clock = clock;
    this.#perform = perform;
  }

  get state(): State {
    return this.#state;
  }

  /** Handles the event now, or after the present one if an effect of that causes it. */
  send(event: Event): void {
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) this.#handle(next);
    } finally {
      this.#isBusy = false;
    }
    this.#setTimer();
  }

  /** Sets no further timer. Events are still handled. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
  }

  /** If this process was frozen while it performed an effect, what has become due since is handled before anything else. */
  #next(): Event | undefined {
    const now = this.#clock.now();
    const isDue = !this.#isClosed && nextWakeMs(this.#config, this.#state, now) <= now.monoMs;
    return this.#events.shift() ?? (isDue ? { type: "tick" } : undefined);
  }

  #handle(event: Event): void {
    const { state, effects } = step(this.#config, this.#state, event, this.#clock.now());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #setTimer(): void {
    this.#cancelTick();
    if (this.#isClosed) return;
    const atMs = nextWakeMs(this.#config, this.#state, this.#clock.now());
    this.#cancelTick = Number.isFinite(atMs)
      ? this.#clock.at(atMs, () => this.send({ type: "tick" }))
      : () => {};
  }
}
