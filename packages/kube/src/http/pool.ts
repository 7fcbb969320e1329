/**
 * Which request may go out now, and on which connections. So many are under way at a time; the others wait here. They wait
 * for the pool in use and not for a certain one: when that is retired because a request on it failed, they go out on the
 * fresh one and not behind what hangs.
 *
 * The one that came last goes out first. Where all are served in time, that makes no difference; where a slow server cannot
 * serve all, the others would each go out with most of their time waited away, and none would be answered in time.
 *
 * Does not promise that there are never more connections: those of a retired pool finish what they have begun.
 */
import type * as http from "node:http";

/**
 * A pool that answered within this time works, and is not retired because somebody got no answer or no turn: a slow server
 * is not to be asked for new connections by each of a thousand requests.
 */
const aliveMs = 1_000;

/** One set of connections, used until a request on it fails. */
export type Pool = {
  readonly agent: http.Agent;
  active: number;
  /** When it last answered, or was made. */
  heardMs: number;
};

/** The right to send one request. */
export type Slot = {
  readonly pool: Pool;
  /** The server answered, whatever it said. */
  answered(): void;
  release(): void;
};

export class Pools {
  readonly #newAgent: () => http.Agent;
  readonly #maxConnections: number;
  readonly #monotonicMs: () => number;
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #current: Pool;

  constructor(newAgent: () => http.Agent, maxConnections: number, monotonicMs: () => number) {
    this.#newAgent = newAgent;
    this.#maxConnections = maxConnections;
    this.#monotonicMs = monotonicMs;
    this.#current = this.#newPool();
  }

  /** Calls back when a request may go out, at once if one may; the returned function takes it back until then. */
  enter(callback: (slot: Slot) => void): () => void {
    if (this.#current.active < this.#maxConnections) callback(this.#take());
    else this.#waiting.push(callback);
    return () => {
      const index = this.#waiting.indexOf(callback);
      if (index >= 0) this.#waiting.splice(index, 1);
    };
  }

  /** A request got no answer on this pool, or no turn on the one in use: the next is to try others. */
  suspect(pool: Pool = this.#current): void {
    if (this.#monotonicMs() - pool.heardMs >= aliveMs) this.retire(pool);
  }

  /** No connection of this pool, or of the one in use, serves a new request; what is under way may finish. */
  retire(pool: Pool = this.#current): void {
    const { agent } = pool;
    if (pool === this.#current) this.#current = this.#newPool();
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) {
      for (const socket of [...(sockets ?? [])]) socket.destroy();
    }
    this.#admit();
  }

  destroy(): void {
    this.#current.agent.destroy();
  }

  #newPool(): Pool {
    return { agent: this.#newAgent(), active: 0, heardMs: this.#monotonicMs() };
  }

  #take(): Slot {
    const pool = this.#current;
    pool.active += 1;
    const answered = (): void => {
      pool.heardMs = this.#monotonicMs();
    };
    const release = (): void => {
      pool.active -= 1;
      this.#admit();
    };
    return { pool, answered, release };
  }

  #admit(): void {
    while (this.#current.active < this.#maxConnections) {
      const callback = this.#waiting.pop();
      if (!callback) return;
      callback(this.#take());
    }
  }
}
