/**
 * Lets at most `permits` of N replicas work at the same time. A semaphore is a set of shards in which no member owns more than one: a
 * permit is a shard, so everything that holds for the owner of a shard holds for the holder of a permit.
 */
import { asError, Emitter, warn } from "@tenure/base";
import type { EndReason, Failure } from "@tenure/core";
import type { Health } from "../health.ts";
import type { Term } from "../term.ts";
import { LeaseSetStore } from "./lease-set-store.ts";
import { checkSetOptions, type SetOptions } from "./set-options.ts";
import { SetRun } from "./set-run.ts";

/** The options of a `Semaphore`. */
export interface SemaphoreOptions extends SetOptions {
  /** How many replicas may work at the same time, from 1 to 4096. A replica holds at most one permit. */
  readonly permits: number;
}

/** Called for each permit that this replica gets. When it returns or throws, a replica that waits gets the permit. */
export type PermitWork = (term: Term, permit: number) => unknown;

/** The events of a `Semaphore`. They are emitted in the order in which things happen. */
export interface SemaphoreEvents {
  /** This process holds a permit, and its work starts. */
  "permit-started": { readonly permit: number; readonly term: Term };
  /** The work has stopped. */
  "permit-ended": { readonly permit: number; readonly term: Term; readonly reason: EndReason };
  /** The member lease was renewed, so the permit is valid for longer. */
  renewed: { readonly permit: number; readonly term: Term };
  /** Work still runs at the hard deadline or after `stopTimeout`. With `onOverrun: "exit"` the process ends right after this event. */
  overrun: { readonly permit: number; readonly term: Term };
  /** A request failed, or work threw. The run goes on. */
  error: { readonly error: Error; readonly failure?: Failure };
}

/**
 * Lets at most `permits` replicas work at the same time.
 * @example
 * const semaphore = new Semaphore({ name: "crawler", permits: 2 });
 * await semaphore.run((term) => crawl(term.signal));
 */
export class Semaphore {
  /** The identity of this replica. */
  readonly identity: string;
  readonly #run: SetRun;
  readonly #events = new Emitter<SemaphoreEvents>((error) => warn(asError(error)));

  constructor(options: SemaphoreOptions) {
    const shape = { kind: "permits", countOption: "permits", count: options.permits, maxMoving: 1 } as const;
    const { lease, set } = checkSetOptions(options, shape);
    this.identity = lease.identity;
    this.#run = new SetRun({
      lease,
      set,
      noun: "permit",
      options,
      store: options.store ?? new LeaseSetStore({ kind: "permits", ...options }),
      onStarted: (permit, _count, term) => this.#events.emit("permit-started", { permit, term }),
      onEnded: (permit, term, reason) => this.#events.emit("permit-ended", { permit, term, reason }),
      onOverrun: (permit, term) => this.#events.emit("overrun", { permit, term }),
      onRenewed: (permit, term) => this.#events.emit("renewed", { permit, term }),
      onAssignment: () => {},
      onError: (error, failure) => {
        this.#events.emit("error", { error, ...(failure && { failure }) });
        return this.#events.has("error");
      },
    });
  }

  /** The identities of the replicas that hold a permit, as far as this one knows. */
  get holders(): readonly string[] {
    const map = this.#run.state?.map;
    const members = map?.kind === "present" ? map.view.map.members : [];
    return members.filter(({ shards }) => shards.length > 0).map(({ identity }) => identity);
  }

  /** The term of this replica; undefined while it has no permit. */
  get term(): Term | undefined {
    return [...this.#run.terms.values()][0];
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof SemaphoreEvents>(
    name: Name,
    listener: (event: SemaphoreEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Gives up the permit: the work is asked to stop, and then a replica that waits gets the permit. */
  stepDown(): void {
    for (const permit of this.#run.terms.keys()) this.#run.stepDown(permit);
  }

  /** Unhealthy if work goes on after its time is over, or if this replica has no connection to the API server. */
  health(): Health {
    return this.#run.health();
  }

  /** Takes part until the signal aborts: then the work is stopped, its permit is given on, and `run` resolves. */
  run(work: PermitWork, { signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return this.#run.run((permit, _count, term) => work(term, permit), signal);
  }
}
