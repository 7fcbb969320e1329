/** A member with the real state machine, in a world that random actions drive: an API server and two other members. */
import { isDeepStrictEqual } from "node:util";
import type { LeaderRecord } from "../../record.ts";
import { nextSetWakeMs } from "../agenda.ts";
import { assignFree, moveShard } from "../plan.ts";
import type { Incarnation, ShardMap } from "../shard-map.ts";
import { initialSetState, stepSet } from "../step.ts";
import type { LeaseView, MapView, SetAnswer, SetConfig, SetEffect, SetEvent, SetState } from "../types.ts";
import { SetModel } from "./set-model.ts";

export const actions = [
  "tick",
  "wait",
  "wait-long",
  "deliver",
  "deliver-all",
  "gap",
  "answer",
  "lose-answer",
  "fail",
  "answer-late",
  "join",
  "lose-lease",
  "stop-work",
  "other-joins",
  "other-renews",
  "other-releases",
  "other-gives",
  "other-assigns",
  "delete-lease",
  "delete-map",
  "stop",
] as const;

export type Action = (typeof actions)[number];

const config: SetConfig = {
  identity: "a",
  count: 4,
  leaseDurationMs: 15_000,
  retryPeriodMs: 2_000,
  attemptTimeoutMs: 2_500,
  mostPerMember: Number.POSITIVE_INFINITY,
  maxMoving: 1,
  passOn: false,
  waitWhenAbsent: false,
  cooldownMs: 1_000,
  drainTimeoutMs: 60_000,
};

type Request = Extract<SetEffect, { type: "list" | "write" | "fence" | "remove" }>;

export class SetEnvironment {
  readonly violations: string[] = [];
  readonly #model = new SetModel();
  readonly #leases = new Map<string, LeaseView>();
  readonly #changes: SetEvent[] = [];
  #state: SetState = initialSetState;
  #map: MapView | undefined;
  #revision = 10n;
  #numbers = 0;
  #nowMs = 1_000;
  #request: Request | undefined;
  #late: { readonly id: number; readonly answer: SetAnswer } | undefined;
  #isMember = false;

  constructor() {
    this.#send({ type: "start" });
    this.#send({ type: "watch-up" });
  }

  /** @param choice a number in [0, 1) that selects what the action is about */
  act(action: Action, choice: number): void {
    const other = choice < 0.5 ? "b" : "c";
    switch (action) {
      case "tick":
        this.#send({ type: "tick" });
        return;
      case "wait":
        this.#wait(choice * 4_000);
        return;
      case "wait-long":
        this.#wait(10_000 + choice * 10_000);
        return;
      case "deliver":
        this.#deliver(1);
        return;
      case "deliver-all":
        this.#deliver(this.#changes.length);
        return;
      case "gap":
        this.#changes.length = 0;
        this.#send({ type: "gap" });
        return;
      case "answer":
      case "lose-answer":
      case "answer-late":
        this.#answer(action);
        return;
      case "fail":
        if (this.#request) {
          const { id } = this.#request;
          this.#request = undefined;
          const failure = { kind: "unreachable", message: "cut" } as const;
          this.#send({ type: "answer", id, answer: { kind: "failed", failure } });
        }
        return;
      case "join":
        if (this.#isMember || this.#model.unfinished().size > 0) return;
        this.#isMember = true;
        this.#send({ type: "joined", me: this.#acquire("a") });
        return;
      case "lose-lease":
        if (!this.#isMember) return;
        this.#isMember = false;
        this.#send({ type: "lease-lost", reason: "renew-deadline" });
        return;
      case "stop-work":
        this.#stopWork(choice);
        return;
      case "other-joins":
        this.#otherJoins(other);
        return;
      case "other-renews":
        this.#changeRecord(other, (record) => ({ ...record, renewTime: this.#unique() }));
        return;
      case "other-releases":
        this.#changeRecord(other, (record) => ({
          ...record,
          holderIdentity: "",
          leaseDurationSeconds: 1,
          acquireTime: this.#unique(),
        }));
        return;
      case "other-gives":
        this.#otherGives(other);
        return;
      case "other-assigns":
        this.#changeMap((map) => (map.forming || map.waiting.length > 0 ? map : assignFree(map, config)));
        return;
      case "delete-lease":
        this.#deleteLease(other);
        return;
      case "delete-map":
        if (!this.#map) return;
        this.#map = undefined;
        this.#changes.push({ type: "map-deleted", revision: this.#nextRevision() });
        return;
      case "stop":
        this.#send({ type: "stop" });
    }
  }

  #send(event: SetEvent): void {
    const at = { monoMs: this.#nowMs, wallMs: this.#nowMs };
    const random = (this.#nowMs % 997) / 997;
    const before = this.#state;
    const { state, effects } = stepSet(config, before, event, at, random);
    if (!isDeepStrictEqual(stepSet(config, before, event, at, random), { state, effects })) {
      this.violations.push("the same step gave two different results");
    }
    this.#state = state;
    this.violations.push(...this.#model.step(event, effects, this.#nowMs));
    for (const effect of effects) {
      if (["list", "write", "fence", "remove"].includes(effect.type)) this.#request = effect as Request;
      if (effect.type === "cancel" && this.#request?.id === effect.id) this.#request = undefined;
    }
  }

  #wait(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let ticks = 0; ticks < 100; ticks++) {
      const wakeMs = nextSetWakeMs(config, this.#state, this.#nowMs);
      if (wakeMs > endMs) break;
      this.#nowMs = Math.max(wakeMs, this.#nowMs);
      this.#send({ type: "tick" });
    }
    this.#nowMs = endMs;
    this.#send({ type: "tick" });
  }

  #deliver(count: number): void {
    for (const event of this.#changes.splice(0, count)) this.#send(event);
  }

  #answer(how: "answer" | "lose-answer" | "answer-late"): void {
    if (this.#late) {
      const { id, answer } = this.#late;
      this.#late = undefined;
      this.#send({ type: "answer", id, answer });
      return;
    }
    const request = this.#request;
    if (!request) return;
    this.#request = undefined;
    const answer = this.#perform(request);
    if (how === "answer") this.#send({ type: "answer", id: request.id, answer });
    if (how === "answer-late") this.#late = { id: request.id, answer };
  }

  #perform(request: Request): SetAnswer {
    switch (request.type) {
      case "list":
        return {
          kind: "listed",
          view: { revision: this.#revision, map: this.#map, leases: [...this.#leases.values()] },
        };
      case "write": {
        if (request.over?.revision !== this.#map?.revision)
          return { kind: request.over && !this.#map ? "gone" : "conflict" };
        return { kind: "map", view: this.#storeMap(request.map) };
      }
      case "fence": {
        if (this.#leases.get(request.over.name)?.revision !== request.over.revision)
          return { kind: "conflict" };
        return { kind: "lease", view: this.#storeLease({ ...request.over, record: request.record }) };
      }
      case "remove":
        if (this.#leases.get(request.over.name)?.revision !== request.over.revision)
          return { kind: "conflict" };
        this.#deleteLease(request.over.name);
        return { kind: "removed" };
    }
  }

  #stopWork(choice: number): void {
    const unfinished = [...this.#model.unfinished()];
    const one = unfinished[Math.floor(choice * unfinished.length)];
    if (one) this.#send({ type: "work-stopped", shard: one[0], token: one[1] });
  }

  #acquire(name: string): Incarnation {
    const uid = this.#leases.get(name)?.uid ?? this.#unique();
    const acquired = this.#unique();
    const record = {
      holderIdentity: name,
      leaseDurationSeconds: 15,
      acquireTime: acquired,
      renewTime: acquired,
      leaseTransitions: 0,
    };
    this.#storeLease({ name, uid, revision: 0n, record });
    return { identity: name, lease: name, uid, acquired, leaseSeconds: 15 };
  }

  #otherJoins(name: string): void {
    const me = this.#acquire(name);
    this.#changeMap((map) =>
      map.forming
        ? map
        : { ...map, members: [...map.members, { ...me, count: 4, leaving: false, shards: [] }] },
    );
  }

  #otherGives(name: string): void {
    this.#changeMap((map) => {
      const giver = map.members.find(({ identity, shards }) => identity === name && shards.length > 0);
      const receiver = map.members.find(({ identity }) => identity === "a");
      return giver && receiver ? moveShard(map, giver.shards[0] as number, receiver) : map;
    });
  }

  #changeMap(change: (map: ShardMap) => ShardMap): void {
    if (!this.#map) return;
    const next = change(this.#map.map);
    if (next !== this.#map.map) this.#storeMap({ ...next, write: this.#unique() });
  }

  #changeRecord(name: string, change: (record: LeaderRecord) => LeaderRecord): void {
    const lease = this.#leases.get(name);
    if (lease && lease.record.holderIdentity !== "")
      this.#storeLease({ ...lease, record: change(lease.record) });
  }

  #storeMap(map: ShardMap): MapView {
    this.#map = { uid: this.#map?.uid ?? this.#unique(), revision: this.#nextRevision(), map };
    this.#changes.push({ type: "map-observed", view: this.#map });
    return this.#map;
  }

  #storeLease(lease: LeaseView): LeaseView {
    const view = { ...lease, revision: this.#nextRevision() };
    this.#leases.set(view.name, view);
    this.#changes.push({ type: "lease-observed", view });
    return view;
  }

  #deleteLease(name: string): void {
    if (this.#leases.delete(name))
      this.#changes.push({ type: "lease-deleted", name, revision: this.#nextRevision() });
  }

  #nextRevision(): bigint {
    this.#revision += 1n;
    return this.#revision;
  }

  #unique(): string {
    this.#numbers += 1;
    return `n${this.#numbers}`;
  }
}
