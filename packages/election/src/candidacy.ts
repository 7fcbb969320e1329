/** Takes part in a coordinated election as a LeaseCandidate. It performs the effects of core's machine and decides nothing itself. */
import type { Clock } from "@tenure/base";
import {
  type CandidacyEffect,
  type CandidacyEvent,
  type CandidacyState,
  type Failure,
  initialCandidacy,
  nextCandidacyMs,
  stepCandidacy,
} from "@tenure/core";
import type { CoordinatedCandidate, Coordination } from "./lock.ts";
import { SideRequests } from "./side-requests.ts";

export interface CandidacyParts {
  readonly coordination: Coordination;
  readonly candidate: Omit<CoordinatedCandidate, "renewMs">;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly onFailure: (failure: Failure) => void;
}

export class Candidacy {
  readonly #parts: CandidacyParts;
  readonly #requests: SideRequests<CandidacyState, CandidacyEvent, CandidacyEffect>;
  #watch: AbortController | undefined;

  constructor(parts: CandidacyParts) {
    this.#parts = parts;
    const { coordination, candidate, clock, random, onFailure } = parts;
    this.#requests = new SideRequests({
      initial: initialCandidacy,
      clock,
      step: (state, event) => stepCandidacy(state, event, clock.now(), random()),
      nextMs: nextCandidacyMs,
      perform: (effect) => {
        switch (effect.type) {
          case "renew":
            return (signal) => coordination.renew({ ...candidate, renewMs: effect.renewMs }, signal);
          case "remove":
            return (signal) => coordination.remove(candidate.identity, signal);
          case "failed":
            onFailure(effect.failure);
            return undefined;
          case "gone":
            return "gone";
        }
      },
    });
  }

  /** Has no effect if it has started. */
  start(): void {
    if (this.#requests.state.phase === "present") return;
    this.#watch = new AbortController();
    const { coordination, candidate, onFailure } = this.#parts;
    const { signal } = this.#watch;
    const unlessOver = (event: CandidacyEvent) => {
      if (!signal.aborted) this.#requests.send(event);
    };
    this.#requests.send({ type: "start" });
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
  stop(): Promise<void> {
    this.#watch?.abort();
    return this.#requests.stop();
  }
}
