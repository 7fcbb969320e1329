/** Shows a candidate to operators while it takes part. It performs the effects of core's machine and decides nothing itself. */
import { type Clock, messageOf, within } from "@tenure/base";
import {
  type AttendanceEffect,
  type AttendanceEvent,
  type Failure,
  initialAttendance,
  nextAttendanceMs,
  type Standing,
  stepAttendance,
} from "@tenure/core";
import type { CandidateRegistry } from "./lock.ts";

export interface AttendanceParts {
  readonly registry: CandidateRegistry;
  readonly identity: string;
  readonly clock: Clock;
  /** Called once if the permission is missing. */
  readonly onReport: (failure: Failure) => void;
}

/** How long a candidate that stops waits until it is removed. A shutdown must not take longer because of it. */
const farewellMs = 500;

export class Attendance {
  readonly #parts: AttendanceParts;
  #state = initialAttendance;
  #request: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #onGone = (): void => {};

  constructor(parts: AttendanceParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#step({ type: "start" });
  }

  standing(standing: Standing): void {
    this.#step({ type: "standing", standing });
  }

  /** Resolves when the candidate has been removed, or soon if that does not succeed. Never rejects. */
  async stop(): Promise<void> {
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve;
    });
    // What an unanswered request did is not known, so the candidate is removed either way.
    const pending = this.#request;
    this.#step({ type: "stop" });
    pending?.abort();
    if (this.#state.phase === "leaving") await within(this.#parts.clock, farewellMs, gone);
    this.#request?.abort();
  }

  #step(event: AttendanceEvent): void {
    const { state, effects } = stepAttendance(this.#state, event, this.#parts.clock.now().monoMs);
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer?.();
    const wakeMs = nextAttendanceMs(this.#state);
    this.#cancelTimer = Number.isFinite(wakeMs)
      ? this.#parts.clock.at(wakeMs, () => this.#step({ type: "tick" }))
      : undefined;
  }

  #perform(effect: AttendanceEffect): void {
    const { registry, identity, onReport } = this.#parts;
    switch (effect.type) {
      case "publish":
        this.#send((signal) => registry.publish({ identity, standing: effect.standing }, signal));
        return;
      case "withdraw":
        this.#send((signal) => registry.withdraw(identity, signal));
        return;
      case "sweep":
        this.#send((signal) => registry.sweep(signal));
        return;
      case "report":
        onReport(effect.failure);
        return;
      case "gone":
        this.#onGone();
    }
  }

  #send(send: (signal: AbortSignal) => Promise<Failure | undefined>): void {
    const controller = new AbortController();
    this.#request = controller;
    const answer = (failure: Failure | undefined) => {
      if (this.#request === controller) this.#request = undefined;
      this.#step({ type: "answer", failure });
    };
    send(controller.signal).then(answer, (error) => answer({ kind: "server", message: messageOf(error) }));
  }
}
