/**
 * Decides which request is sent next, and on which connections. A limited number is in flight; the others wait here. They wait
 * for the current pool, whichever it is: when a pool is retired because a request on it failed, waiting requests are sent on
 * the new pool, not behind requests that hang.
 *
 * The newest request goes first. If the server serves all requests in time, the order makes no difference. If it is too slow,
 * oldest-first would send every request with most of its time limit already spent, and none would complete in time.
 *
 * The limit is not exact: connections of a retired pool stay open until their requests complete.
 */
import type * as http from "node:http";
import type { Clock } from "@tenure/base";

/**
 * A pool that received a response within this time works. It is not retired when a request times out: otherwise each of a
 * thousand requests would make a slow server accept new connections.
 */
const aliveMs = 1_000;

/** A set of connections, used until a request on it fails. */
type Pool = {
  readonly agent: http.Agent;
  active: number;
  /** When the last response arrived, or when the pool was created. */
  lastResponseMs: number;
};

/** Permission to send one request. */
export type Slot = {
  readonly pool: Pool;
  /** The server responded, with any status. */
  responded(): void;
  release(): void;
};

export class Pools {
  readonly #newAgent: () => http.Agent;
  readonly #maxConnections: number;
  readonly #clock: Clock;
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #current: Pool;

  constructor(newAgent: () => http.Agent, maxConnections: number, clock: Clock) {
    this.#newAgent = newAgent;
    this.#maxConnections = maxConnections;
    this.#clock = clock;
    this.#current = this.#newPool();
  }

  /** The connections of the next request. */
  get agent(): http.Agent {
    return this.#current.agent;
  }

  /** Permission to send a request now, if there is any. */
  tryAcquire(): Slot | undefined {
    return this.#current.active < this.#maxConnections ? this.#newSlot() : undefined;
  }

  /** Calls back when a request may be sent, possibly at once. The returned function stops the wait. */
  acquire(callback: (slot: Slot) => void): () => void {
    const slot = this.tryAcquire();
    if (slot) callback(slot);
    else this.#waiting.push(callback);
    return () => {
      const index = this.#waiting.indexOf(callback);
      if (index >= 0) this.#waiting.splice(index, 1);
    };
  }

  /** A request on this pool, or one that waited for the current pool, timed out. Retires the pool unless it works. */
  suspect(pool: Pool = this.#current): void {
    if (this.#clock.now().monoMs - pool.lastResponseMs >= aliveMs) this.retire(pool);
  }

  /** Sends no further request on this pool, by default the current one. Requests in flight may complete. */
  retire(pool: Pool = this.#current): void {
    const { agent } = pool;
    if (pool === this.#current) this.#current = this.#newPool();
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of [...(sockets ?? [])]) socket.destroy();
    }
    this.#sendWaiting();
  }

  destroy(): void {
    this.#current.agent.destroy();
  }

  #newPool(): Pool {
    return { agent: this.#newAgent(), active: 0, lastResponseMs: this.#clock.now().monoMs };
  }

  #newSlot(): Slot {
    const pool = this.#current;
    pool.active += 1;
    const responded = (): void => {
      pool.lastResponseMs = this.#clock.now().monoMs;
    };
    const release = (): void => {
      pool.active -= 1;
      this.#sendWaiting();
    };
    return { pool, responded, release };
  }

  #sendWaiting(): void {
    while (this.#current.active < this.#maxConnections) {
      const callback = this.#waiting.pop();
      if (!callback) return;
      callback(this.#newSlot());
    }
  }
}
