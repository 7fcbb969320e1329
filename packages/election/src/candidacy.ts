/** Takes part in a coordinated election as a LeaseCandidate. It performs the effects of core's machine and decides nothing itself. */
import { type Clock, messageOf, within } from "@tenure/base";
import {
  type CandidacyEffect,
  type CandidacyEvent,
  type Failure,
  initialCandidacy,
  nextCandidacyMs,
  stepCandidacy,
} from "@tenure/core";
import type { CoordinatedCandidate, Coordination } from "./lock.ts";

export interface CandidacyParts {
  readonly coordination: Coordination;
  readonly candidate: Omit<CoordinatedCandidate, "renewMs">;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onFailure: (failure: Failure) => void;
}

/** How long the end of a run waits until the LeaseCandidate is removed. */
const farewellMs = 500;

export class Candidacy {
  readonly #parts: CandidacyParts;
  #state = initialCandidacy;
  #watch: AbortController | undefined;
  #request: AbortController | undefined;
  #cancelTimer: (() => void) | undefined;
  #onGone = (): void => {};

  constructor(parts: CandidacyParts) {
    this.#parts = parts;
  }

  /** Has no effect if it has started. */
  start(): void {
    if (this.#state.phase === "present") return;
    this.#watch = new AbortController();
    const { coordination, candidate, onFailure } = this.#parts;
    const { signal } = this.#watch;
    const unlessOver = (event: CandidacyEvent) => {
      if (!signal.aborted) this.#step(event);
    };
    this.#step({ type: "start" });
    coordination.watch(
      candidate.identity,
      {
        observed: (pingTime) => unlessOver({ type: "observed", pingTime }),
        deleted: () => unlessOver({ type: "deleted" }),
        failed: (failure) => {
          if (!signal.aborted) onFailure(failure);
        },
      },
      signal,
    );
  }

  /**
   * The API server must not name this candidate any more, so this comes before the release of the lock. Resolves when the
   * LeaseCandidate has been removed, or soon if that does not succeed. Never rejects.
   */
  async stop(): Promise<void> {
    this.#watch?.abort();
    const gone = new Promise<void>((resolve) => {
      this.#onGone = resolve;
    });
    const pending = this.#request;
    this.#step({ type: "stop" });
    pending?.abort();
    if (this.#state.phase === "leaving") await within(this.#parts.clock, farewellMs, gone);
    this.#request?.abort();
  }

  #step(event: CandidacyEvent): void {
    const { clock, random } = this.#parts;
    const { state, effects } = stepCandidacy(this.#state, event, clock.now(), random());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    this.#cancelTimer?.();
    const wakeMs = nextCandidacyMs(this.#state);
    this.#cancelTimer = Number.isFinite(wakeMs)
      ? clock.at(wakeMs, () => this.#step({ type: "tick" }))
      : undefined;
  }

  #perform(effect: CandidacyEffect): void {
    const { coordination, candidate, onFailure } = this.#parts;
    switch (effect.type) {
      case "renew":
        this.#send((signal) => coordination.renew({ ...candidate, renewMs: effect.renewMs }, signal));
        return;
      case "remove":
        this.#send((signal) => coordination.remove(candidate.identity, signal));
        return;
      case "failed":
        onFailure(effect.failure);
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
