/** One process that takes part in the set: the two state machines that ship, a drifting clock, and work that takes time to stop. */
import type { Instant } from "@tenure/base";
import {
  type Config,
  type Effect,
  type Event,
  initialSetState,
  initialState,
  isBefore,
  nextSetWakeMs,
  nextWakeMs,
  rangeOfShard,
  resolveTimings,
  type SetConfig,
  type SetEffect,
  type SetEvent,
  type SetState,
  type State,
  setEventOf,
  step,
  stepSet,
  validUntil,
} from "@tenure/core";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import { Link } from "./link.ts";
import type { LinkState, MemberHooks, MemberOptions, Participant, Work } from "./participant.ts";
import type { SetServer } from "./server.ts";

/** Work that this process runs. */
interface OwnWork extends Work {
  /** False once another member may be working on the shard. */
  isAllowed: boolean;
}

type Input = { readonly lease: Event } | { readonly set: SetEvent };

export class SimulatedMember implements Participant {
  readonly options: MemberOptions;
  readonly #link: Link;
  readonly works = new Map<number, OwnWork>();
  isAlive = true;
  isFrozen = false;
  hasEnded = false;
  readonly #config: Config;
  readonly #setConfig: SetConfig;
  readonly #scheduler: Scheduler;
  readonly #server: SetServer;
  readonly #random: Random;
  readonly #hooks: MemberHooks;
  readonly #inbox: Input[] = [];
  #lease: State = initialState;
  #set: SetState = initialSetState;
  #isBusy = false;
  #cancelTimer = (): void => {};
  /** The time for which the monotonic clock stood still. */
  #suspendedMs = 0;

  constructor(
    options: MemberOptions,
    scheduler: Scheduler,
    server: SetServer,
    random: Random,
    hooks: MemberHooks,
  ) {
    this.options = options;
    this.#scheduler = scheduler;
    this.#server = server;
    this.#random = random;
    this.#hooks = hooks;
    const timings = resolveTimings({
      leaseDuration: `${options.leaseSeconds}s`,
      renewDeadline: `${Math.floor((options.leaseSeconds * 2) / 3)}s`,
    });
    const { identity, count, mostPerMember, passOn, waitWhenAbsent } = options;
    this.#config = { identity, timings, waitWhenAbsent: false, failWhenDenied: false, cooldownMs: 0 };
    const { leaseDurationMs, retryPeriodMs, attemptTimeoutMs } = timings;
    this.#setConfig = {
      identity,
      count,
      leaseDurationMs,
      retryPeriodMs,
      attemptTimeoutMs,
      mostPerMember,
      maxMoving: 1,
      passOn,
      waitWhenAbsent,
      cooldownMs: 1_000,
      drainTimeoutMs: 60_000,
    };
    this.#link = new Link(scheduler, server, random, (event) => this.send({ set: event }));
    this.send({ set: { type: "start" } });
    this.send({ set: { type: "watch-up" } });
    this.send({ lease: { type: "start" } });
  }

  get now(): Instant {
    const trueMs = this.#scheduler.nowMs * this.options.rate;
    return { monoMs: trueMs - this.#suspendedMs + 1_000, wallMs: trueMs + 1_900_000_000_000 };
  }

  get isLeaving(): boolean {
    return this.#set.stopping;
  }

  get working(): readonly Work[] {
    if (!this.isAlive || this.isFrozen || !isBefore(this.now, validUntil(this.#config, this.#lease)))
      return [];
    return [...this.works.values()].filter(({ isAllowed }) => isAllowed);
  }

  leave(): void {
    this.send({ set: { type: "stop" } });
  }

  crash(): void {
    this.isAlive = false;
    this.works.clear();
    this.#link.close();
    this.#cancelTimer();
  }

  freeze(): void {
    this.isFrozen = true;
    this.#cancelTimer();
  }

  thaw(suspendedMs: number): void {
    this.isFrozen = false;
    this.#suspendedMs += suspendedMs * this.options.rate;
    // The timers of a process may run before it reads what has arrived meanwhile.
    const ticks: Input[] = [{ lease: { type: "tick" } }, { set: { type: "tick" } }];
    if (this.#random.chance(0.5)) this.#inbox.unshift(...ticks);
    for (const tick of ticks) this.send(tick);
  }

  endWork(shard: number): void {
    this.#workStopped(this.works.get(shard));
  }

  disturb(state: Partial<LinkState>): void {
    Object.assign(this.#link.state, state);
  }

  breakWatch(): void {
    this.#link.breakWatch();
  }

  send(input: Input): void {
    if (!this.isAlive || this.hasEnded) return;
    this.#inbox.push(input);
    if (this.#isBusy || this.isFrozen) return;
    this.#isBusy = true;
    for (let next = this.#inbox.shift(); next; next = this.#inbox.shift()) {
      if ("lease" in next) this.#stepLease(next.lease);
      else this.#stepSet(next.set);
    }
    this.#isBusy = false;
    this.#setTimer();
  }

  #stepLease(event: Event): void {
    const { state, effects } = step(this.#config, this.#lease, event, this.now, this.#random.next());
    this.#lease = state;
    for (const effect of effects) this.#performForLease(effect);
  }

  #performForLease(effect: Effect): void {
    const name = this.options.identity;
    switch (effect.type) {
      case "read":
        this.#link.request(
          () => this.#server.readLease(name),
          (answer) => this.send({ lease: { type: "answer", id: effect.id, answer } }),
        );
        return;
      case "write":
        this.#link.request(
          () => this.#server.writeLease(name, effect.record, effect.over),
          (answer) => this.send({ lease: { type: "answer", id: effect.id, answer } }),
        );
        return;
      case "term-expired":
        for (const work of this.works.values()) work.isAllowed = false;
        return;
      case "stopped":
      case "refused":
        this.#hooks.log(`${name} ${effect.type}`);
        this.hasEnded = true;
        this.#link.close();
        return;
      default: {
        const event = setEventOf(this.#setConfig, name, effect, this.#lease);
        if (!event) return;
        this.#hooks.log(`${name} ${event.type}`);
        this.send({ set: event });
      }
    }
  }

  #stepSet(event: SetEvent): void {
    const { state, effects } = stepSet(this.#setConfig, this.#set, event, this.now, this.#random.next());
    this.#set = state;
    for (const effect of effects) this.#performForSet(effect);
  }

  #performForSet(effect: SetEffect): void {
    switch (effect.type) {
      case "list":
      case "write":
      case "fence":
      case "remove":
        this.#link.request(
          () => {
            const answer = this.#server.perform(effect);
            if (effect.type !== "list")
              this.#hooks.log(`${this.options.identity} ${describe(effect)}: ${answer.kind}`);
            return answer;
          },
          (answer) => this.send({ set: { type: "answer", id: effect.id, answer } }),
        );
        return;
      case "shard-started": {
        const { shard, count, token } = effect;
        const work = { shard, count, token, ...rangeOfShard(shard, count), isAllowed: true };
        this.works.set(shard, work);
        // As the library does: the process may have been frozen since.
        if (this.working.includes(work)) this.#hooks.started(this, work);
        else this.#workStopped(work);
        return;
      }
      case "shard-ending":
      case "shard-lost": {
        const work = this.works.get(effect.shard);
        if (!work) return;
        this.#hooks.log(`${this.options.identity} ${effect.type} ${effect.shard} ${effect.reason}`);
        if (effect.type === "shard-lost" && effect.expired) work.isAllowed = false;
        this.#scheduler.after(this.#random.between(0, this.options.stopMs), () => this.#workStopped(work));
        return;
      }
      case "membership-stopped":
        this.send({ lease: { type: "work-stopped", cooldownMs: 0 } });
        return;
      case "leave":
        this.send({ lease: { type: "stop" } });
        return;
    }
  }

  #workStopped(work: OwnWork | undefined): void {
    if (!work || this.works.get(work.shard) !== work) return;
    this.works.delete(work.shard);
    this.send({ set: { type: "work-stopped", shard: work.shard, token: work.token } });
  }

  #setTimer(): void {
    this.#cancelTimer();
    if (!this.isAlive || this.hasEnded) return;
    const { monoMs } = this.now;
    const leaseMs = nextWakeMs(this.#config, this.#lease, this.now);
    const setMs = nextSetWakeMs(this.#setConfig, this.#set, monoMs);
    const wakeMs = Math.min(leaseMs, setMs);
    if (!Number.isFinite(wakeMs)) return;
    const afterMs = Math.max(wakeMs - monoMs, 0) / this.options.rate;
    this.#cancelTimer = this.#scheduler.after(afterMs + this.#random.between(0.01, 5), () => {
      this.send({ lease: { type: "tick" } });
      this.send({ set: { type: "tick" } });
    });
  }
}

function describe(effect: SetEffect): string {
  if (effect.type === "fence" || effect.type === "remove") return `${effect.type} ${effect.over.name}`;
  if (effect.type !== "write") return effect.type;
  const { count, forming, waiting, members } = effect.map;
  const shown = members.map(
    ({ identity, shards, leaving }) => `${identity}${leaving ? "(leaving)" : ""}=${shards}`,
  );
  const names = waiting.map(({ identity }) => identity);
  return `write ${count}${forming ? " forming" : ""} ${shown.join(" ")}${names.length > 0 ? ` waiting for ${names}` : ""}`;
}
