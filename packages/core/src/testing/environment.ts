/**
 * Everything that can happen to one candidate: a network that delays, loses, repeats and reorders messages, a watch with
 * gaps, other holders, people with kubectl, and time. A test is a random list of such actions.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { step } from "../step.ts";
import type { Answer, Config, Effect, Event, Failure } from "../types.ts";
import { type Change, LockServer } from "./lock-server.ts";
import { Model } from "./model.ts";
import { record } from "./records.ts";
import { failure, type Request, TestCandidate } from "./test-candidate.ts";

export type Action =
  | { readonly do: "wait" | "freeze" | "suspend"; readonly ms: number }
  /** A request reaches the server. 0 is the newest. */
  | { readonly do: "arrive"; readonly n: number }
  /** An answer reaches the candidate, for the first time or again. 0 is the newest. */
  | { readonly do: "answer"; readonly n: number }
  | { readonly do: "round-trip" }
  | { readonly do: "fail"; readonly kind: Failure["kind"] }
  | { readonly do: "false-answer"; readonly kind: "absent" | "conflict" }
  | { readonly do: "watch" | "skip"; readonly n: number }
  | { readonly do: "replay"; readonly n: number }
  | { readonly do: "watch-up" | "watch-down" | "changed" }
  | { readonly do: "put"; readonly holder: string; readonly seconds: number | undefined }
  | { readonly do: "annotate" | "delete" | "copy" }
  | {
      readonly do: "order";
      readonly what: "pause" | "resume" | "step-down" | "transfer" | "accepted-transfer";
      readonly to: string;
    }
  | { readonly do: "start" | "stop" | "step-down" | "work-stopped" };

const spanMs = fc.oneof(
  fc.constantFrom(0, 1, 50, 2_500, 3_000, 4_750, 10_000, 14_750, 15_000, 16_000),
  fc.integer({ min: 0, max: 4_000 }),
);
const index = fc.nat({ max: 3 });
const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary });

export const action: fc.Arbitrary<Action> = fc.oneof(
  weighted(6, fc.record({ do: fc.constant("wait"), ms: spanMs })),
  weighted(1, fc.record({ do: fc.constantFrom("freeze", "suspend"), ms: spanMs })),
  weighted(10, fc.constant({ do: "round-trip" })),
  weighted(3, fc.record({ do: fc.constant("arrive"), n: index })),
  weighted(4, fc.record({ do: fc.constant("answer"), n: index })),
  weighted(
    2,
    fc.record({
      do: fc.constant("fail"),
      kind: fc.constantFrom("unreachable", "denied", "throttled", "server"),
    }),
  ),
  weighted(1, fc.record({ do: fc.constant("false-answer"), kind: fc.constantFrom("absent", "conflict") })),
  weighted(4, fc.record({ do: fc.constant("watch"), n: fc.integer({ min: 1, max: 5 }) })),
  weighted(1, fc.record({ do: fc.constant("skip"), n: fc.integer({ min: 1, max: 3 }) })),
  weighted(1, fc.record({ do: fc.constant("replay"), n: index })),
  weighted(1, fc.record({ do: fc.constantFrom("watch-up", "watch-down", "changed") })),
  weighted(
    3,
    fc.record({
      do: fc.constant("put"),
      holder: fc.constantFrom("b", "b", "c", "", "", "a"),
      seconds: fc.constantFrom(15, 15, 1, 1, 40, 0, undefined),
    }),
  ),
  weighted(2, fc.record({ do: fc.constantFrom("annotate", "delete", "delete", "copy") })),
  weighted(
    2,
    fc.record({
      do: fc.constant("order"),
      what: fc.constantFrom("pause", "resume", "resume", "step-down", "transfer", "accepted-transfer"),
      to: fc.constantFrom("a", "a", "b", "typo"),
    }),
  ),
  weighted(
    4,
    fc.record({ do: fc.constantFrom("start", "start", "stop", "step-down", "work-stopped", "work-stopped") }),
  ),
);

export class Environment {
  readonly candidate: TestCandidate;
  readonly server = new LockServer();
  readonly model: Model;
  /** Violations that the model found. */
  readonly violations: string[] = [];
  readonly #sent: Request[] = [];
  readonly #answers: { readonly id: number; readonly answer: Answer }[] = [];
  #delivered = 0;
  #puts = 0;
  #randomness: number;

  constructor(config: Config, randomness: number) {
    this.candidate = new TestCandidate(config);
    this.model = new Model(config);
    this.#randomness = randomness;
    this.candidate.onStep = (event, effects) => {
      for (const effect of effects)
        if (effect.type === "read" || effect.type === "write" || effect.type === "accept")
          this.#sent.unshift(effect);
      this.violations.push(...this.model.step(event, effects, this.candidate.at));
      this.#checkMayWork();
      this.#nextRandom();
    };
    this.candidate.onBefore = (event) => this.#checkPurity(event);
  }

  play(actions: readonly Action[]): void {
    for (const each of actions) {
      this.#play(each);
      this.#checkMayWork();
    }
  }

  #play(action: Action): void {
    const { candidate, server } = this;
    switch (action.do) {
      case "wait":
        candidate.wait(action.ms);
        return;
      case "freeze":
      case "suspend":
        candidate[action.do](action.ms);
        return;
      case "arrive":
        this.#arrive(this.#sent[action.n]);
        return;
      case "answer":
        this.#deliverAnswer(this.#answers[action.n]);
        return;
      case "round-trip":
        if (!candidate.request) return;
        this.#arrive(candidate.request);
        this.#deliverAnswer(this.#answers[0]);
        return;
      case "fail":
        if (candidate.request) candidate.answer({ kind: "failed", failure: failure(action.kind) });
        return;
      case "false-answer":
        if (candidate.request) candidate.answer({ kind: action.kind });
        return;
      case "watch":
        for (const change of server.changes.slice(this.#delivered, this.#delivered + action.n))
          this.#deliverChange(change);
        this.#delivered = Math.min(this.#delivered + action.n, server.changes.length);
        return;
      case "skip":
        this.#delivered = Math.min(this.#delivered + action.n, server.changes.length);
        return;
      case "replay":
        this.#deliverChange(server.changes.at(-1 - action.n));
        return;
      case "put":
        this.#puts += 1;
        server.put(
          record({
            holderIdentity: action.holder,
            leaseDurationSeconds: action.seconds,
            renewTime: `put ${this.#puts}`,
          }),
        );
        return;
      case "annotate":
        server.annotate();
        return;
      case "delete":
        server.delete();
        return;
      case "order": {
        const transitions = server.lock?.record.leaseTransitions ?? 0;
        const transfer = { transitions, to: action.to };
        server.annotate({
          ...(action.what === "pause" && { paused: true }),
          ...(action.what === "step-down" && { stepDown: transitions }),
          ...(action.what === "transfer" && { transfer }),
          ...(action.what === "accepted-transfer" && { transfer: { ...transfer, accepted: true } }),
        });
        return;
      }
      case "copy": {
        const before = server.lock;
        server.delete();
        if (before) server.put(before.record);
        return;
      }
      case "step-down":
      case "work-stopped":
        candidate.send({ type: action.do, cooldownMs: 0 });
        return;
      default:
        candidate.send({ type: action.do });
    }
  }

  #arrive(request: Request | undefined): void {
    if (request) this.#answers.unshift({ id: request.id, answer: this.server.answer(request) });
  }

  #deliverAnswer(delivery: { readonly id: number; readonly answer: Answer } | undefined): void {
    if (delivery) this.candidate.answer(delivery.answer, delivery.id);
  }

  #deliverChange(change: Change | undefined): void {
    if (change?.kind === "written") this.candidate.observed(change.view);
    if (change?.kind === "deleted") this.candidate.send({ type: "deleted", revision: change.revision });
  }

  #checkMayWork(): void {
    if (this.candidate.mayWork && !this.model.mayWork(this.candidate.at)) {
      this.violations.push(`the work may run at ${this.candidate.monoMs}, but the model forbids it`);
    }
  }

  #checkPurity(event: Event): void {
    const { candidate } = this;
    freeze(candidate.state);
    freeze(event);
    const results: { effects: Effect[] }[] = [1, 2].map(() =>
      step(candidate.config, candidate.state, event, candidate.at, candidate.random),
    );
    if (!isDeepStrictEqual(results[0], results[1]))
      this.violations.push("the same step gave two different results");
  }

  #nextRandom(): void {
    this.#randomness = (this.#randomness * 1_103_515_245 + 12_345) % 2_147_483_648;
    this.candidate.random = this.#randomness / 2_147_483_648;
  }
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
