/**
 * What can happen to one candidate: a network that delays, loses, repeats and reorders, an API server that is honest,
 * a watch with gaps, other holders, people with kubectl, and time. A random list of these is a test.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { step } from "../step.ts";
import type { Answer, Config, Effect, Event, Failure } from "../types.ts";
import { Model } from "./model.ts";
import { record } from "./records.ts";
import { failure, type Request, Rig } from "./rig.ts";
import { type Change, LockServer } from "./server.ts";

export type Action =
  | { readonly do: "wait" | "freeze" | "suspend"; readonly ms: number }
  /** A request reaches the server; the newest is 0. */
  | { readonly do: "arrive"; readonly n: number }
  /** An answer reaches the candidate, for the first time or again; the newest is 0. */
  | { readonly do: "answer"; readonly n: number }
  | { readonly do: "round-trip" }
  | { readonly do: "fail"; readonly kind: Failure["kind"] }
  | { readonly do: "lie"; readonly kind: "absent" | "conflict" }
  | { readonly do: "watch" | "skip"; readonly n: number }
  | { readonly do: "replay"; readonly n: number }
  | { readonly do: "watch-up" | "watch-down" | "changed" }
  | { readonly do: "put"; readonly holder: string; readonly seconds: number | undefined }
  | { readonly do: "annotate" | "delete" | "copy" }
  | {
      readonly do: "order";
      readonly what: "pause" | "resume" | "step-down" | "transfer";
      readonly to: string;
    }
  | { readonly do: "start" | "stop" | "step-down" | "work-stopped" };

const spanMs = fc.oneof(
  fc.constantFrom(0, 1, 50, 2_500, 3_000, 4_750, 10_000, 14_750, 15_000, 16_000),
  fc.integer({ min: 0, max: 4_000 }),
);
const few = fc.nat({ max: 3 });
const weighted = (weight: number, arbitrary: fc.Arbitrary<Action>) => ({ weight, arbitrary });

export const action: fc.Arbitrary<Action> = fc.oneof(
  weighted(6, fc.record({ do: fc.constant("wait"), ms: spanMs })),
  weighted(1, fc.record({ do: fc.constantFrom("freeze", "suspend"), ms: spanMs })),
  weighted(10, fc.constant({ do: "round-trip" })),
  weighted(3, fc.record({ do: fc.constant("arrive"), n: few })),
  weighted(4, fc.record({ do: fc.constant("answer"), n: few })),
  weighted(
    2,
    fc.record({
      do: fc.constant("fail"),
      kind: fc.constantFrom("unreachable", "denied", "throttled", "server"),
    }),
  ),
  weighted(1, fc.record({ do: fc.constant("lie"), kind: fc.constantFrom("absent", "conflict") })),
  weighted(4, fc.record({ do: fc.constant("watch"), n: fc.integer({ min: 1, max: 5 }) })),
  weighted(1, fc.record({ do: fc.constant("skip"), n: fc.integer({ min: 1, max: 3 }) })),
  weighted(1, fc.record({ do: fc.constant("replay"), n: few })),
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
      what: fc.constantFrom("pause", "resume", "resume", "step-down", "transfer"),
      to: fc.constantFrom("a", "b"),
    }),
  ),
  weighted(
    4,
    fc.record({ do: fc.constantFrom("start", "start", "stop", "step-down", "work-stopped", "work-stopped") }),
  ),
);

export class World {
  readonly rig: Rig;
  readonly server = new LockServer();
  readonly model: Model;
  /** What the model objected to. */
  readonly wrong: string[] = [];
  readonly #sent: Request[] = [];
  readonly #answers: { readonly id: number; readonly answer: Answer }[] = [];
  #told = 0;
  #puts = 0;
  #randomness: number;

  constructor(config: Config, randomness: number) {
    this.rig = new Rig(config);
    this.model = new Model(config);
    this.#randomness = randomness;
    this.rig.onStep = (event, effects) => {
      for (const effect of effects)
        if (effect.type === "read" || effect.type === "write") this.#sent.unshift(effect);
      this.wrong.push(...this.model.step(event, effects, this.rig.at));
      this.#judge();
      this.#shuffle();
    };
    this.rig.onBefore = (event) => this.#judgePurity(event);
  }

  play(actions: readonly Action[]): void {
    for (const each of actions) {
      this.#play(each);
      this.#judge();
    }
  }

  #play(action: Action): void {
    const { rig, server } = this;
    switch (action.do) {
      case "wait":
        rig.wait(action.ms);
        return;
      case "freeze":
      case "suspend":
        rig[action.do](action.ms);
        return;
      case "arrive":
        this.#arrive(this.#sent[action.n]);
        return;
      case "answer":
        this.#deliver(this.#answers[action.n]);
        return;
      case "round-trip":
        if (!rig.request) return;
        this.#arrive(rig.request);
        this.#deliver(this.#answers[0]);
        return;
      case "fail":
        if (rig.request) rig.answer({ kind: "failed", failure: failure(action.kind) });
        return;
      case "lie":
        if (rig.request) rig.answer({ kind: action.kind });
        return;
      case "watch":
        for (const change of server.changes.slice(this.#told, this.#told + action.n)) this.#tell(change);
        this.#told = Math.min(this.#told + action.n, server.changes.length);
        return;
      case "skip":
        this.#told = Math.min(this.#told + action.n, server.changes.length);
        return;
      case "replay":
        this.#tell(server.changes.at(-1 - action.n));
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
        server.annotate({
          ...(action.what === "pause" && { paused: true }),
          ...(action.what === "step-down" && { stepDown: transitions }),
          ...(action.what === "transfer" && { transfer: { transitions, to: action.to } }),
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
        rig.feed({ type: action.do, cooldownMs: 0 });
        return;
      default:
        rig.feed({ type: action.do });
    }
  }

  #arrive(request: Request | undefined): void {
    if (request) this.#answers.unshift({ id: request.id, answer: this.server.answer(request) });
  }

  #deliver(delivery: { readonly id: number; readonly answer: Answer } | undefined): void {
    if (delivery) this.rig.answer(delivery.answer, delivery.id);
  }

  #tell(change: Change | undefined): void {
    if (change?.kind === "written") this.rig.observed(change.view);
    if (change?.kind === "deleted") this.rig.feed({ type: "deleted", revision: change.revision });
  }

  #judge(): void {
    if (this.rig.mayWork && !this.model.mayWork(this.rig.at)) {
      this.wrong.push(`the work may run at ${this.rig.monoMs}, but not by the model`);
    }
  }

  #judgePurity(event: Event): void {
    const { rig } = this;
    freeze(rig.state);
    freeze(event);
    const results: { effects: Effect[] }[] = [1, 2].map(() =>
      step(rig.config, rig.state, event, rig.at, rig.random),
    );
    if (!isDeepStrictEqual(results[0], results[1])) this.wrong.push("the same step gave two results");
  }

  #shuffle(): void {
    this.#randomness = (this.#randomness * 1_103_515_245 + 12_345) % 2_147_483_648;
    this.rig.random = this.#randomness / 2_147_483_648;
  }
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
