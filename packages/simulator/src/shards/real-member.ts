/** A process that runs what ships: Shards or a Semaphore with the real client, over a simulated network. */
import { first, type Instant } from "@tenure/base";
import { isBefore, rangeOfShard } from "@tenure/core";
import {
  Semaphore,
  type SemaphoreOptions,
  type SetMetrics,
  Shards,
  type ShardsOptions,
  type Term,
} from "@tenure/election";
import { Connection } from "../connection.ts";
import { simulatedClient } from "../http/client.ts";
import { namespace } from "../http/objects.ts";
import type { CredentialKind } from "../http/pod.ts";
import { injectIntoLink } from "../link-faults.ts";
import { Machine } from "../machine.ts";
import type { Fault } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import {
  goodLink,
  type LinkState,
  type MemberHooks,
  type MemberOptions,
  type Participant,
  type Work,
} from "./participant.ts";
import { type SetApi, setName } from "./set-api.ts";

export interface RealMemberParts {
  readonly scheduler: Scheduler;
  readonly api: SetApi;
  readonly random: Random;
  readonly hooks: MemberHooks;
  readonly credentials: CredentialKind;
}

type ShippedWork = (shard: number, count: number, term: Term) => Promise<void>;

/** What shards and semaphores have in common for their process. */
interface ShippedSet {
  run(work: ShippedWork, signal: AbortSignal): Promise<void>;
  stepDown(shard: number): void;
  describe(): string;
}

function shards(options: ShardsOptions, onRenewed: (term: Term) => void): ShippedSet {
  const set = new Shards(options);
  set.on("renewed", ({ term }) => onRenewed(term));
  set.on("error", () => {});
  return {
    run: (work, signal) => set.run((shard, term) => work(shard.index, shard.count, term), { signal }),
    stepDown: (shard) => set.stepDown(shard),
    describe: () =>
      `${set.health().message}, ${set.terms.size} of ${set.assignment.length} members, ${set.of("a key").owner}`,
  };
}

function semaphore(options: SemaphoreOptions, onRenewed: (term: Term) => void): ShippedSet {
  const set = new Semaphore(options);
  set.on("renewed", ({ term }) => onRenewed(term));
  set.on("error", () => {});
  return {
    run: (work, signal) => set.run((term, permit) => work(permit, options.permits, term), { signal }),
    stepDown: () => set.stepDown(),
    describe: () => `${set.health().message}, ${set.term?.token}, ${set.holders}`,
  };
}

interface RunningWork extends Work {
  readonly term: Term;
  /** Until when its term was valid when it was last renewed. A term that is closed while its work runs does not tell. */
  validUntil: Instant;
  finish(): void;
}

export class RealMember implements Participant {
  readonly options: MemberOptions;
  readonly works = new Map<number, RunningWork>();
  readonly machine: Machine<Connection>;
  isFrozen = false;
  isLeaving = false;
  hasEnded = false;
  readonly #hooks: MemberHooks;
  readonly #set: ShippedSet;
  readonly #stop = new AbortController();
  /** As a metrics library counts them. */
  readonly #counts = new Map<string, number>();

  constructor(options: MemberOptions, { scheduler, api, random, hooks, credentials }: RealMemberParts) {
    this.options = options;
    this.#hooks = hooks;
    const wallSkewMs = random.chance(0.5) ? random.between(-30_000, 30_000) : 0;
    const connect = () => new Connection(api.http.store, random);
    const machine = new Machine<Connection>(scheduler, { rate: options.rate, wallSkewMs }, random, connect);
    this.machine = machine;
    this.disturb(goodLink);
    const id = options.identity;
    const client = simulatedClient({ id, machine, scheduler, api: api.http, credentials });
    const { identity, count, leaseSeconds, waitWhenAbsent } = options;
    const common = {
      name: setName,
      // Otherwise the client finds it in the kubeconfig or in the pod.
      ...(random.chance(0.5) && { namespace }),
      identity,
      client,
      leaseDuration: `${leaseSeconds}s`,
      renewDeadline: `${Math.floor((leaseSeconds * 2) / 3)}s`,
      waitWhenAbsent,
      // Then it ends when the API server refuses it, and its process would start again.
      failWhenDenied: random.chance(0.1),
      cooldown: "1s",
      onOverrun: "report",
      clock: machine.clock,
      random: random.next,
      metrics: this.#metrics(),
    } as const;
    const onRenewed = (term: Term) => {
      for (const running of this.works.values())
        if (running.term === term) running.validUntil = this.#endOf(term);
    };
    const work: ShippedWork = (shard, ofCount, term) => this.#work(shard, ofCount, term);
    this.#set = options.passOn
      ? semaphore({ ...common, permits: count }, onRenewed)
      : shards({ ...common, count }, onRenewed);
    this.#run(work);
  }

  get isAlive(): boolean {
    return !this.machine.isDead;
  }

  get working(): readonly Work[] {
    if (!this.machine.isRunning) return [];
    const now = this.machine.clock.now();
    return [...this.works.values()].filter(
      ({ term, validUntil }) => !term.expired.aborted && isBefore(now, validUntil),
    );
  }

  leave(): void {
    this.isLeaving = true;
    this.machine.defer(() => this.#stop.abort());
  }

  crash(): void {
    this.machine.kill();
    this.works.clear();
  }

  freeze(): void {
    if (this.isFrozen) return;
    this.isFrozen = true;
    this.machine.freeze();
  }

  thaw(suspendedMs: number): void {
    this.isFrozen = false;
    this.machine.clock.wasSuspended(suspendedMs);
    this.machine.thaw();
  }

  endWork(shard: number): void {
    const work = this.works.get(shard);
    if (!work) return;
    this.machine.defer(() => {
      if (this.machine.random.chance(0.5)) work.finish();
      else this.#set.stepDown(shard);
    });
  }

  disturb({ isCut, loss, slowMs, isWatchSilent }: Partial<LinkState>): void {
    const { link } = this.machine;
    if (isCut !== undefined) {
      link.requestsCut = isCut;
      link.answersCut = isCut;
    }
    link.loseAnswers = loss ?? link.loseAnswers;
    link.slowMs = slowMs ?? link.slowMs;
    link.watchStalled = isWatchSilent ?? link.watchStalled;
    link.changed();
  }

  breakWatch(): void {
    const { link } = this.machine;
    link.watchDropsEvents = true;
    link.changed();
    link.watchDropsEvents = false;
  }

  inject(fault: Pick<Fault, "kind" | "amount">, until: (end: () => void) => void): void {
    const { link } = this.machine;
    injectIntoLink(fault, link, (end) =>
      until(() => {
        end();
        link.changed();
      }),
    );
    link.changed();
  }

  #run(work: ShippedWork): void {
    const ended = (how: string) => {
      this.#hooks.log(`${this.options.identity} ${how}`);
      this.hasEnded = true;
    };
    this.#set.run(work, this.#stop.signal).then(
      () => ended("stopped"),
      (error: Error) => ended(`refused: ${error.message}`),
    );
  }

  async #work(shard: number, count: number, term: Term): Promise<void> {
    const { clock, random } = this.machine;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const range = rangeOfShard(shard, count);
    const work: RunningWork = {
      shard,
      count,
      token: BigInt(term.token),
      ...range,
      term,
      validUntil: this.#endOf(term),
      finish,
    };
    this.works.set(shard, work);
    this.#hooks.started(this, work);
    const how = await first(clock, { finished, ending: term.signal });
    if (how === "ending") await first(clock, { finished, stopped: random.between(0, this.options.stopMs) });
    if (this.works.get(shard) === work) this.works.delete(shard);
    // As the probe of a kubelet and a page with the assignment do.
    this.#count(this.#set.describe());
    if (how === "finished" && random.chance(0.3)) throw new Error("the work failed");
  }

  #endOf(term: Term): Instant {
    const { monoMs, wallMs } = this.machine.clock.now();
    return { monoMs: monoMs + term.remainingMs(), wallMs: wallMs + term.remainingMs() };
  }

  #metrics(): SetMetrics {
    return {
      owning: (shards) => this.#count(`owning ${shards}`),
      termStarted: () => this.#count("terms"),
      termEnded: () => this.#count("ended"),
      requestFailed: (during) => this.#count(`${during} failed`),
    };
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
