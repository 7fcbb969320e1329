/** One candidate of a `MigrationWorld`: the real core and the real protocol, without promises, timers and sockets. */
import type { Instant } from "@tenure/base";
import {
  type Answer,
  type Config,
  type Effect,
  type Event,
  initialState,
  isBefore,
  type LeaderRecord,
  type LockView,
  nextWakeMs,
  resolveTimings,
  type State,
  step,
  validUntil,
} from "@tenure/core";
import {
  beginWrite,
  endWrite,
  failedRead,
  initialProtocolState,
  isNews,
  type nextWriteStep,
  type observeViews,
  type ProtocolState,
  type Side,
  type Views,
  viewIn,
} from "../locks/migration-protocol.ts";
import type { Stage } from "./rollout.ts";

/** The decisions under test. A test replaces one to plant a mistake. */
export interface Protocol {
  readonly observeViews: typeof observeViews;
  readonly nextWriteStep: typeof nextWriteStep;
}

/** What a candidate needs from its world. */
export interface Surroundings {
  readonly protocol: Protocol;
  readonly random: () => number;
  readonly at: Instant;
  readonly nowMs: number;
  /** The probability that a message is lost. */
  readonly lossRate: number;
  /** How long a message takes at most. */
  readonly latencyMs: number;
  after(ms: number, run: () => void): void;
  readObject(side: Side): Answer;
  writeObject(side: Side, record: LeaderRecord, over: LockView | undefined): Answer;
  termStarted(token: bigint): void;
}

const workStopsAfterMs = 20;

export class WorldCandidate {
  readonly identity: string;
  readonly stage: Stage;
  readonly #world: Surroundings;
  readonly #config: Config;
  /** While it is cut off, no message arrives in either direction. */
  isCut = false;
  isCrashed = false;
  #frozenUntilMs = 0;
  #state: State = initialState;
  #protocol: ProtocolState = initialProtocolState;
  readonly #cancelled = new Set<number>();
  #wakeMs = Number.POSITIVE_INFINITY;

  constructor(world: Surroundings, identity: string, stage: Stage, leaseSeconds: number) {
    this.#world = world;
    this.identity = identity;
    this.stage = stage;
    const timings = resolveTimings({
      leaseDuration: `${leaseSeconds}s`,
      renewDeadline: `${(leaseSeconds * 2_000) / 3}ms`,
      retryPeriod: "500ms",
    });
    this.#config = { identity, timings, waitWhenAbsent: false, failWhenDenied: false, cooldownMs: 1_000 };
  }

  get mayWork(): boolean {
    return !this.isCrashed && isBefore(this.#world.at, validUntil(this.#config, this.#state));
  }

  freeze(ms: number): void {
    this.#frozenUntilMs = this.#world.nowMs + ms;
  }

  knows(side: Side, { uid }: LockView): boolean {
    if (this.isCrashed || !this.#uses(side)) return true;
    if (this.stage === "both") return this.#protocol.known[side]?.uid === uid;
    return this.#state.lock.kind === "present" && this.#state.lock.view.uid === uid;
  }

  send(event: Event): void {
    this.#whenAwake(() => {
      const { at, random } = this.#world;
      const { state, effects } = step(this.#config, this.#state, event, at, random());
      this.#state = state;
      for (const effect of effects) this.#perform(effect);
      this.#setTimer();
    });
  }

  watched(side: Side, change: LockView | bigint): void {
    if (!this.#uses(side)) return;
    this.#deliver(() => {
      if (this.stage === "both") {
        const isKnown = typeof change === "object" && !isNews(this.#protocol, side, change);
        if (!isKnown) this.send({ type: "changed" });
      } else if (typeof change === "object") this.send({ type: "observed", view: change });
      else this.send({ type: "deleted", revision: change });
    });
  }

  #uses(side: Side): boolean {
    return this.stage === "both" || (this.stage === "old") === (side === "from");
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case "read":
        this.#read(effect.id);
        return;
      case "write":
        this.#write(effect.id, effect.record, effect.over);
        return;
      case "cancel":
        // An answer may already have arrived when the request is aborted.
        if (this.#world.random() < 0.7) this.#cancelled.add(effect.id);
        return;
      case "term-started":
        this.#world.termStarted(effect.token);
        return;
      case "term-ending":
      case "term-lost":
        this.#world.after(workStopsAfterMs, () => this.send({ type: "work-stopped", cooldownMs: 0 }));
    }
  }

  #read(id: number): void {
    if (this.stage !== "both") {
      const side = this.stage === "old" ? "from" : "to";
      this.#request(
        id,
        () => this.#world.readObject(side),
        (answer) => this.send({ type: "answer", id, answer }),
      );
      return;
    }
    const { known } = this.#protocol;
    const answers: Partial<Record<Side, Answer>> = {};
    for (const side of ["from", "to"] as const) {
      this.#request(
        id,
        () => this.#world.readObject(side),
        (answer) => {
          answers[side] = answer;
          const { from, to } = answers;
          if (!from || !to) return;
          const answerToCore =
            failedRead(from, to) ?? this.#observe({ from: viewIn(from), to: viewIn(to) }, known);
          this.send({ type: "answer", id, answer: answerToCore });
        },
      );
    }
  }

  #write(id: number, record: LeaderRecord, over: LockView | undefined): void {
    if (this.stage !== "both") {
      const side = this.stage === "old" ? "from" : "to";
      this.#request(
        id,
        () => this.#world.writeObject(side, record, over),
        (answer) => this.send({ type: "answer", id, answer }),
      );
      return;
    }
    const { known } = this.#protocol;
    const before = (over?.object ?? {}) as Partial<Views>;
    const answers: Partial<Record<Side, Answer>> = {};
    this.#protocol = beginWrite(this.#protocol, record);
    const proceed = () => {
      const next = this.#world.protocol.nextWriteStep(record, answers);
      if (next.do === "write") {
        const { side } = next;
        this.#request(
          id,
          () => this.#world.writeObject(side, record, before[side]),
          (answer) => {
            answers[side] = answer;
            proceed();
          },
        );
        return;
      }
      const answer = next.do === "give-up" ? next.answer : this.#observe(next.views, known);
      this.#protocol = endWrite(this.#protocol, record);
      this.send({ type: "answer", id, answer });
    };
    proceed();
  }

  #observe(views: Views, known: Views): Answer {
    const { state, answer } = this.#world.protocol.observeViews(this.#protocol, views, known);
    this.#protocol = state;
    return answer;
  }

  /** Sends a request to the server. Its answer is lost, or the request is, or it fails, or none of that. */
  #request(id: number, perform: () => Answer, onAnswer: (answer: Answer) => void): void {
    const { random } = this.#world;
    if (random() < this.#world.lossRate / 2) {
      const message = "refused";
      this.#world.after(1, () => this.#whenAwake(() => onAnswer(failed(message))));
      return;
    }
    this.#deliver(() => {
      const answer = perform();
      this.#deliver(() => {
        this.#whenAwake(() => onAnswer(this.#cancelled.has(id) ? failed("aborted") : answer));
      });
    });
  }

  /** A message from or to this candidate. */
  #deliver(arrive: () => void): void {
    const { random, latencyMs } = this.#world;
    if (random() < this.#world.lossRate) return;
    this.#world.after(random() * latencyMs, () => {
      if (!this.isCut) arrive();
    });
  }

  #whenAwake(run: () => void): void {
    if (this.isCrashed) return;
    if (this.#frozenUntilMs <= this.#world.nowMs) run();
    else this.#world.after(this.#frozenUntilMs - this.#world.nowMs, () => this.#whenAwake(run));
  }

  #setTimer(): void {
    const wakeMs = nextWakeMs(this.#config, this.#state, this.#world.at);
    if (wakeMs === this.#wakeMs || !Number.isFinite(wakeMs)) return;
    this.#wakeMs = wakeMs;
    this.#world.after(wakeMs - this.#world.nowMs, () => {
      if (this.#wakeMs !== wakeMs) return;
      this.#wakeMs = Number.POSITIVE_INFINITY;
      this.send({ type: "tick" });
    });
  }
}

function failed(message: string): Answer {
  return { kind: "failed", failure: { kind: "unreachable", message } };
}
