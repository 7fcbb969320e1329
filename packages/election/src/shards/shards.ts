/**
 * Divides work among replicas: each of `count` shards is worked on by exactly one of the processes that run the same set, and the
 * shards are distributed evenly.
 *
 * Guaranteed: never two owners of a shard (G1), tokens of a shard that grow (G2), and a shard of a dead member is taken over when its
 * lease has expired (G4). Not guaranteed: code that does not call `term.isValid()` may still run for a moment after the process was
 * paused. Storage that checks `term.token` rejects its writes.
 */
import { asError, Emitter, warn } from "@tenure/base";
import { type EndReason, type Failure, ownerOf, type SetState, shardOfKey } from "@tenure/core";
import type { Health } from "../health.ts";
import type { Term } from "../term.ts";
import { LeaseSetStore } from "./lease-set-store.ts";
import { checkSetOptions, type SetOptions } from "./set-options.ts";
import { SetRun } from "./set-run.ts";
import { Shard } from "./shard.ts";

/** The options of `Shards`. */
export interface ShardsOptions extends SetOptions {
  /**
   * Into how many shards the work is divided, from 1 to 4096. Several times the number of replicas makes the shares even. A different
   * count comes into force when all members that take part want it.
   */
  readonly count: number;
  /** How many shards this member gives to others at a time when the distribution has to change. @default 1 */
  readonly maxMoving?: number;
}

/** Called once for each term of each shard that this replica owns. The term ends when it returns or throws. */
export type ShardWork = (shard: Shard, term: Term) => unknown;

/** The events of `Shards`. They are emitted in the order in which things happen. */
export interface ShardsEvents {
  /** This process owns the shard, and its work starts. */
  "shard-started": { readonly shard: Shard; readonly term: Term };
  /** The work has stopped. */
  "shard-ended": { readonly shard: Shard; readonly term: Term; readonly reason: EndReason };
  /** The member lease was renewed. Emitted for each shard that this process works on. */
  renewed: { readonly shard: Shard; readonly term: Term };
  /** Another member owns a shard, or members have joined or left. */
  "assignment-changed": { readonly assignment: readonly ShardMember[] };
  /** Work still runs at the hard deadline or after `stopTimeout`. With `onOverrun: "exit"` the process ends right after this event. */
  overrun: { readonly shard: Shard; readonly term: Term };
  /** A request failed, or work threw. The run goes on. */
  error: { readonly error: Error; readonly failure?: Failure };
}

/** A member, and the shards that it owns. */
export interface ShardMember {
  /** The identity of the member. */
  readonly identity: string;
  /** The numbers of its shards, in ascending order. */
  readonly shards: readonly number[];
}

/** A shard, and the identity of its owner as far as this member knows. */
export interface OwnedShard {
  /** The shard. */
  readonly shard: Shard;
  /** The identity of its owner; undefined if nobody owns it, or if that is not known. */
  readonly owner: string | undefined;
}

/**
 * Divides work among replicas: each shard is worked on by exactly one of them.
 * @example
 * const shards = new Shards({ name: "billing", count: 16 });
 * await shards.run(async (shard, term) => {
 *   while (term.isValid() && !term.signal.aborted) await bill(shard, term);
 * });
 */
export class Shards {
  /** The identity of this member. */
  readonly identity: string;
  readonly #run: SetRun;
  readonly #count: number;
  readonly #events = new Emitter<ShardsEvents>((error) => warn(asError(error)));
  readonly #shards = new Map<number, Shard>();

  constructor(options: ShardsOptions) {
    const { count, maxMoving = 1 } = options;
    const { lease, set } = checkSetOptions(options, {
      kind: "shards",
      countOption: "count",
      count,
      maxMoving,
    });
    this.identity = lease.identity;
    this.#count = count;
    const shardAt = (index: number) => this.#shards.get(index) ?? new Shard(index, this.#count);
    this.#run = new SetRun({
      lease,
      set,
      noun: "shard",
      options,
      store: options.store ?? new LeaseSetStore({ kind: "shards", ...options }),
      onStarted: (index, ofCount, term) => {
        const shard = new Shard(index, ofCount);
        this.#shards.set(index, shard);
        this.#events.emit("shard-started", { shard, term });
      },
      onEnded: (index, term, reason) =>
        this.#events.emit("shard-ended", { shard: shardAt(index), term, reason }),
      onOverrun: (index, term) => this.#events.emit("overrun", { shard: shardAt(index), term }),
      onRenewed: (index, term) => this.#events.emit("renewed", { shard: shardAt(index), term }),
      onAssignment: () => this.#events.emit("assignment-changed", { assignment: this.assignment }),
      onError: (error, failure) => {
        this.#events.emit("error", { error, ...(failure && { failure }) });
        return this.#events.has("error");
      },
    });
  }

  /** All members and the shards that they own, as far as this member knows. */
  get assignment(): readonly ShardMember[] {
    const members = mapIn(this.#run.state)?.members ?? [];
    return members.map(({ identity, shards }) => ({ identity, shards }));
  }

  /** The shards that this process works on, with their terms. */
  get terms(): ReadonlyMap<number, Term> {
    return this.#run.terms;
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof ShardsEvents>(name: Name, listener: (event: ShardsEvents[Name]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /** The shard of a key, and its owner as far as this member knows. */
  of(key: string): OwnedShard {
    const map = mapIn(this.#run.state);
    const count = map?.count ?? this.#count;
    const index = shardOfKey(key, count);
    return { shard: new Shard(index, count), owner: map && ownerOf(map, index)?.identity };
  }

  /**
   * Ends the term of a shard of this process: its work is asked to stop. After `cooldown` the shard starts again with a greater token.
   * Has no effect on a shard of another process.
   */
  stepDown(index: number): void {
    this.#run.stepDown(index);
  }

  /** Unhealthy if work goes on after its time is over, or if this member has no connection to the API server. */
  health(): Health {
    return this.#run.health();
  }

  /**
   * Takes part until the signal aborts: calls `work` for each shard that this replica owns. When the signal aborts, all work is
   * stopped, its shards are given to other members, and then `run` resolves.
   */
  run(work: ShardWork, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return this.#run.run((index, count, term) => {
      const shard = this.#shards.get(index);
      return work(shard?.count === count ? shard : new Shard(index, count), term);
    }, signal);
  }
}

function mapIn(state: SetState | undefined) {
  return state?.map.kind === "present" ? state.map.view.map : undefined;
}
