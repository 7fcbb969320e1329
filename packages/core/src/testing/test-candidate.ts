/**
 * One candidate in virtual time. The test decides what happens and when. After every step it checks that the next wake-up
 * is in the future and that at most one request is in flight.
 */

import type { Instant } from "@tenure/base";
import { nextWakeMs } from "../agenda.ts";
import { isBefore, leaderAt, validUntil } from "../queries.ts";
import type { LockView } from "../record.ts";
import { initialState, step } from "../step.ts";
import { resolveTimings } from "../timings.ts";
import type { Answer, Config, Effect, Event, Failure, State } from "../types.ts";
import { accepted, uid } from "./records.ts";

export type Request = Extract<Effect, { type: "read" | "write" | "accept" }>;
export type Accept = Extract<Effect, { type: "accept" }>;
export type Write = Extract<Effect, { type: "write" }>;
export type Respond = (request: Request) => Answer | undefined;

const startWallMs = Date.parse("2030-01-01T00:00:00Z");
export const config: Config = {
  identity: "a",
  timings: resolveTimings(),
  waitWhenAbsent: false,
  failWhenDenied: false,
  cooldownMs: 2_000,
};

/** More wake-ups and answers than this in one run mean a tight loop. */
const maxTurns = 200_000;

export class TestCandidate {
  readonly config: Config;
  /** All effects, in order. */
  readonly effects: Effect[] = [];
  state: State = initialState;
  monoMs = 0;
  wallMs = startWallMs;
  random = 0.5;
  /** Called before and after each step. */
  onBefore: ((event: Event) => void) | undefined;
  onStep: ((event: Event, effects: readonly Effect[]) => void) | undefined;
  #request: Request | undefined;
  #lastWrite: Write | undefined;

  constructor(overrides: Partial<Config> = {}) {
    this.config = { ...config, ...overrides };
  }

  get at(): Instant {
    return { monoMs: this.monoMs, wallMs: this.wallMs };
  }
  get phase(): State["phase"]["name"] {
    return this.state.phase.name;
  }
  get mayWork(): boolean {
    return isBefore(this.at, validUntil(this.config, this.state));
  }
  get leader(): string | undefined {
    return leaderAt(this.config, this.state, this.at);
  }
  get nextWakeMs(): number {
    return nextWakeMs(this.config, this.state, this.at);
  }
  /** The request in flight. */
  get request(): Request | undefined {
    return this.state.inFlight ? this.#request : undefined;
  }
  get lastWrite(): Write {
    if (!this.#lastWrite) throw new Error("the candidate has not written anything yet");
    return this.#lastWrite;
  }

  send(event: Event): Effect[] {
    this.onBefore?.(event);
    const { state, effects } = step(this.config, this.state, event, this.at, this.random);
    this.state = state;
    this.effects.push(...effects);
    for (const effect of effects) {
      if (effect.type === "read" || effect.type === "write" || effect.type === "accept")
        this.#request = effect;
      if (effect.type === "write") this.#lastWrite = effect;
    }
    if (!(this.nextWakeMs > this.monoMs))
      throw new Error(`the next wake-up is not in the future: ${this.nextWakeMs}`);
    if (this.state.inFlight && this.#request?.id !== this.state.inFlight.id)
      throw new Error("two requests are in flight");
    this.onStep?.(event, effects);
    return effects;
  }

  start = () => this.send({ type: "start" });
  stop = () => this.send({ type: "stop" });
  tick = () => this.send({ type: "tick" });
  stepDown = (cooldownMs = 0) => this.send({ type: "step-down", cooldownMs });
  workStopped = (cooldownMs = 0) => this.send({ type: "work-stopped", cooldownMs });
  watchUp = () => this.send({ type: "watch-up" });
  watchDown = () => this.send({ type: "watch-down" });
  observed = (view: LockView) => this.send({ type: "observed", view });
  deleted = (revision: number) => this.send({ type: "deleted", revision: BigInt(revision) });
  found = (view: LockView) => this.answer({ kind: "found", view });
  absent = () => this.answer({ kind: "absent" });
  conflict = () => this.answer({ kind: "conflict" });
  failed = (kind: Failure["kind"] = "unreachable", retryAfterMs?: number) =>
    this.answer({ kind: "failed", failure: failure(kind, retryAfterMs) });

  /** Answers the request in flight, or an earlier one. */
  answer(answer: Answer, id = this.state.inFlight?.id): Effect[] {
    if (id === undefined) throw new Error(`no request is in flight to answer with ${answer.kind}`);
    return this.send({ type: "answer", id, answer });
  }

  /** The lock after the write. */
  committed(revision: number | bigint, write = this.lastWrite): LockView {
    return {
      uid: write.over?.uid ?? uid,
      version: String(revision),
      revision: BigInt(revision),
      record: write.record,
      ...(write.over?.orders && { orders: write.over.orders }),
    };
  }

  /** The write in flight is committed and acknowledged. */
  ack(revision: number | bigint): Effect[] {
    if (this.request?.type === "accept") return this.found(acceptedBy(this.request, revision));
    if (this.request?.type !== "write") throw new Error("no write is in flight");
    return this.found(this.committed(revision));
  }

  /** Time passes, and the candidate gets its ticks. No request is answered. */
  wait(ms: number): Effect[] {
    return this.run(ms, () => undefined);
  }

  /** Time passes, and each request is answered after `latencyMs`, or never if `respond` returns undefined. */
  run(ms: number, respond: Respond, latencyMs = 1): Effect[] {
    const firstEffect = this.effects.length;
    const endMs = this.monoMs + ms;
    let id: number | undefined;
    let answerAtMs = Number.POSITIVE_INFINITY;
    for (let turns = 0; turns < maxTurns; turns++) {
      const { request } = this;
      if (request?.id !== id) {
        id = request?.id;
        answerAtMs = request ? this.monoMs + latencyMs : Number.POSITIVE_INFINITY;
      }
      const wakeMs = this.nextWakeMs;
      if (Math.min(wakeMs, answerAtMs) > endMs) {
        this.#moveTo(endMs);
        return this.effects.slice(firstEffect);
      }
      this.#moveTo(Math.min(wakeMs, answerAtMs));
      const answer = request && answerAtMs <= wakeMs ? respond(request) : undefined;
      if (answer) this.answer(answer);
      else if (answerAtMs <= wakeMs) answerAtMs = Number.POSITIVE_INFINITY;
      else this.tick();
    }
    throw new Error(`more than ${maxTurns} turns in ${ms} ms`);
  }

  /** The process is frozen while both clocks run. */
  freeze(ms: number): void {
    this.monoMs += ms;
    this.wallMs += ms;
  }

  /** The machine is suspended and only the wall clock runs, or somebody sets the wall clock. */
  suspend(ms: number): void {
    this.wallMs += ms;
  }

  #moveTo(monoMs: number): void {
    this.wallMs += monoMs - this.monoMs;
    this.monoMs = monoMs;
  }
}

/** The lock after a candidate has accepted a transfer. */
export function acceptedBy({ over }: Accept, revision: number | bigint): LockView {
  return {
    ...over,
    version: String(revision),
    revision: BigInt(revision),
    orders: accepted(over.orders),
  };
}

export function failure(kind: Failure["kind"] = "unreachable", retryAfterMs?: number): Failure {
  return { kind, message: `it was ${kind}`, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** A candidate that has read the lock and waits. */
export function waiting(seen: LockView, overrides: Partial<Config> = {}): TestCandidate {
  const candidate = new TestCandidate(overrides);
  candidate.start();
  candidate.found(seen);
  return candidate;
}

/** A candidate that has just won the lock, by creating it as revision 1. */
export function leading(overrides: Partial<Config> = {}): TestCandidate {
  const candidate = new TestCandidate(overrides);
  candidate.start();
  candidate.absent();
  candidate.ack(1);
  return candidate;
}

/** The requests, as API verbs. */
export function verbs(effects: readonly Effect[]): string[] {
  const names: string[] = [];
  for (const effect of effects) {
    if (effect.type === "read") names.push("get");
    if (effect.type === "write") names.push(effect.over ? "update" : "create");
    if (effect.type === "accept") names.push("update");
  }
  return names;
}

export function types(effects: readonly Effect[]): string[] {
  return effects.map((effect) => effect.type);
}

export function ofType<T extends Effect["type"]>(
  effects: readonly Effect[],
  type: T,
): Extract<Effect, { type: T }>[] {
  return effects.filter((effect): effect is Extract<Effect, { type: T }> => effect.type === type);
}
