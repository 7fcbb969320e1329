/**
 * The time by the API server's clock, from the Date headers of its responses. The header has whole seconds, so one response
 * leaves an uncertainty of a second plus its travel time; every further response narrows it. Before the first response
 * nothing is known.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Node publishes every HTTP response here. The client returns only bodies, and this needs no second client. */
const responsesChannel = "http.client.response.finish";

export interface ServerTime {
  /** Milliseconds since 1970, by the server. */
  readonly nowMs: number;
  /** How far `nowMs` may be from the true value. */
  readonly uncertaintyMs: number;
  /** The server's clock minus this machine's. */
  readonly offsetMs: number;
}

export class ServerClock {
  readonly #localMs: () => number;
  #lowMs = Number.NEGATIVE_INFINITY;
  #highMs = Number.POSITIVE_INFINITY;

  /** @param localMs milliseconds since 1970, by this machine */
  constructor(localMs: () => number) {
    this.#localMs = localMs;
  }

  /** Runs `work` and learns from every response that arrives meanwhile. This process contacts no other server. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const sentMs = this.#localMs();
    const learn = (message: unknown) => {
      const { response } = message as { response?: { headers?: { date?: string } } };
      this.saw(response?.headers?.date, sentMs, this.#localMs());
    };
    subscribe(responsesChannel, learn);
    try {
      return await work();
    } finally {
      unsubscribe(responsesChannel, learn);
    }
  }

  /** Learns from a response with this Date. The other two are this machine's times of the request and of the response. */
  saw(date: string | undefined, sentMs: number, receivedMs: number): void {
    const serverMs = Date.parse(date ?? "");
    if (Number.isNaN(serverMs)) return;
    const low = serverMs - receivedMs;
    const high = serverMs + 1_000 - sentMs;
    // Contradicting bounds mean that a clock was set meanwhile, so the old bounds are worthless.
    const contradicts = low > this.#highMs || high < this.#lowMs;
    this.#lowMs = contradicts ? low : Math.max(this.#lowMs, low);
    this.#highMs = contradicts ? high : Math.min(this.#highMs, high);
  }

  /** Undefined if no response had a Date. */
  time(): ServerTime | undefined {
    if (!Number.isFinite(this.#lowMs)) return undefined;
    // Most clocks are right: of all offsets within the bounds, take the one nearest to zero.
    const offsetMs = Math.min(Math.max(0, this.#lowMs), this.#highMs);
    return {
      nowMs: this.#localMs() + offsetMs,
      offsetMs,
      uncertaintyMs: Math.max(this.#highMs - offsetMs, offsetMs - this.#lowMs),
    };
  }

  /** The server's time if it is known, else this machine's. */
  nowMs(): number {
    return this.time()?.nowMs ?? this.#localMs();
  }
}
