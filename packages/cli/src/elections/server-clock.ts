/**
 * What time it is by the API server's clock, from the Date header of its answers. The header has whole seconds, so one
 * answer leaves an uncertainty of a second and the time it travelled; every further answer narrows it.
 * It promises bounds, not a moment; and nothing at all before the first answer.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** Where Node tells of every HTTP answer. The client hands out bodies only, and this needs no second client. */
const answersChannel = "http.client.response.finish";

export interface WallClock {
  /** Milliseconds since 1970, by this machine. */
  now(): number;
}

export interface ServerTime {
  /** Milliseconds since 1970, by the server. */
  readonly nowMs: number;
  /** How far from the truth `nowMs` may be. */
  readonly uncertaintyMs: number;
  /** The server's clock less this machine's. */
  readonly offsetMs: number;
}

export class ServerClock {
  readonly #clock: WallClock;
  #lowMs = Number.NEGATIVE_INFINITY;
  #highMs = Number.POSITIVE_INFINITY;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /** Runs `work` and learns from every answer that comes meanwhile. Nothing else in this process asks other servers. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const sentMs = this.#clock.now();
    const learn = (message: unknown) => {
      const { response } = message as { response?: { headers?: { date?: string } } };
      this.saw(response?.headers?.date, sentMs, this.#clock.now());
    };
    subscribe(answersChannel, learn);
    try {
      return await work();
    } finally {
      unsubscribe(answersChannel, learn);
    }
  }

  /** An answer with this Date, to a request sent and answered at these moments of this machine. */
  saw(date: string | undefined, sentMs: number, receivedMs: number): void {
    const serverMs = Date.parse(date ?? "");
    if (Number.isNaN(serverMs)) return;
    const low = serverMs - receivedMs;
    const high = serverMs + 1_000 - sentMs;
    // Bounds that contradict mean that a clock was set meanwhile: what was known before is worth nothing.
    const contradicts = low > this.#highMs || high < this.#lowMs;
    this.#lowMs = contradicts ? low : Math.max(this.#lowMs, low);
    this.#highMs = contradicts ? high : Math.min(this.#highMs, high);
  }

  /** Undefined when no answer had a Date. */
  time(): ServerTime | undefined {
    if (!Number.isFinite(this.#lowMs)) return undefined;
    // Most clocks are right: of all offsets that fit what was seen, the one nearest to none.
    const offsetMs = Math.min(Math.max(0, this.#lowMs), this.#highMs);
    return {
      nowMs: this.#clock.now() + offsetMs,
      offsetMs,
      uncertaintyMs: Math.max(this.#highMs - offsetMs, offsetMs - this.#lowMs),
    };
  }
}
