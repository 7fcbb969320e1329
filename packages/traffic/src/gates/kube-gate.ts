/**
 * What the gates that write to the API server have in common: they try again while there is time and point in it, one
 * thing at a time, write for a term only while it is valid, and settle when their time is up.
 * A request that was given up may still be carried out later. So every write is compare-and-swap, and closing always
 * writes: what is still under way is outdated by it.
 */
import type { Clock } from "@tenure/base";
import { type KubeClient, KubeError, type KubeRequest } from "@tenure/kube";
import { messageOf, TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";
import { systemClock, warn } from "../platform.ts";

export interface KubeGateOptions {
  readonly client: Pick<KubeClient, "request">;
  readonly namespace: string;
  /** How long opening may take, with all its retries. @default 10_000 */
  readonly openTimeoutMs?: number;
  /** How long closing may take, with all its retries: the release of the lease waits for it. @default 5_000 */
  readonly closeTimeoutMs?: number;
  /** What goes wrong while the gate is open, and what was mended. @default a warning of the process */
  readonly onError?: (error: Error) => void;
  /** @default the machine's */
  readonly clock?: Clock;
}

export type Call = <T>(request: Omit<KubeRequest, "timeoutMs" | "signal">) => Promise<T>;

/** Where a gate writes. Each method is one attempt: it reads, decides and writes, and is repeated as a whole. */
export interface Place {
  prepare(call: Call): Promise<void>;
  enter(call: Call, term: GateTerm): Promise<void>;
  /** Resolves with what was mended, if something was. */
  check(call: Call, term: GateTerm): Promise<string | undefined>;
  leave(call: Call, term: GateTerm): Promise<void>;
}

interface Visit {
  readonly term: GateTerm;
  readonly giveUp: AbortController;
  isOpen: boolean;
  /** Whether a write was sent for it: if none was, there is nothing to take back. */
  mayBeIn: boolean;
  busy: Promise<void> | undefined;
}

interface Attempts {
  readonly untilMs: number;
  readonly signal: AbortSignal;
  /** Its writes are sent only while its term is valid. */
  readonly visit?: Visit;
}

const defaultOpenTimeoutMs = 10_000;
const defaultCloseTimeoutMs = 5_000;
/** One request that hangs must not use up the time of all of them. */
const requestTimeoutMs = 3_000;
const firstDelayMs = 50;
const longestDelayMs = 1_000;

/** Somebody else was faster: read again and think again, at once. */
const overtaken: ReadonlySet<string> = new Set(["Conflict", "AlreadyExists"]);
/** May pass by itself. */
const passing: ReadonlySet<string> = new Set([
  "TooManyRequests",
  "ServerTimeout",
  "ServerError",
  "Unreachable",
  "Timeout",
  "BadResponse",
]);

export class KubeGate implements Gate {
  readonly name: string;
  readonly #place: Place;
  readonly #options: KubeGateOptions;
  readonly #clock: Clock;
  #isPrepared = false;
  #visit: Visit | undefined;
  #closing: Promise<void> | undefined;
  #lastReported: string | undefined;

  constructor(name: string, place: Place, options: KubeGateOptions) {
    this.name = name;
    this.#place = place;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async prepare(): Promise<void> {
    await this.#prepare(new AbortController().signal);
  }

  async open(term: GateTerm): Promise<void> {
    await this.#closing?.catch(() => {});
    const visit: Visit = {
      term,
      giveUp: new AbortController(),
      isOpen: false,
      mayBeIn: false,
      busy: undefined,
    };
    this.#visit = visit;
    const { signal } = visit.giveUp;
    const entering = (async () => {
      if (!this.#isPrepared) await this.#prepare(signal);
      const untilMs = this.#clock.now().monoMs + (this.#options.openTimeoutMs ?? defaultOpenTimeoutMs);
      await this.#repeat({ untilMs, signal, visit }, (call) => this.#place.enter(call, term));
      visit.isOpen = true;
    })();
    visit.busy = entering
      .catch(() => {})
      .finally(() => {
        visit.busy = undefined;
      });
    try {
      await entering;
    } catch (error) {
      // The write may have happened all the same.
      await this.close().catch(() => {});
      throw this.#cannotOpen(error);
    }
  }

  renewed(term: GateTerm): void {
    const visit = this.#visit;
    if (!visit?.isOpen || visit.term.token !== term.token || visit.busy) return;
    visit.busy = this.#check(visit).finally(() => {
      visit.busy = undefined;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #prepare(signal: AbortSignal): Promise<void> {
    const untilMs = this.#clock.now().monoMs + (this.#options.openTimeoutMs ?? defaultOpenTimeoutMs);
    try {
      await this.#repeat({ untilMs, signal }, (call) => this.#place.prepare(call));
    } catch (error) {
      throw this.#cannotOpen(error);
    }
    this.#isPrepared = true;
  }

  #cannotOpen(cause: unknown): TrafficError {
    if (cause instanceof TrafficError) return cause;
    return new TrafficError("CannotOpen", `Cannot open the gate ${this.name}: ${messageOf(cause)}`, {
      cause,
    });
  }

  async #check(visit: Visit): Promise<void> {
    const { term } = visit;
    const untilMs = this.#clock.now().monoMs + term.remainingMs();
    try {
      const mended = await this.#repeat({ untilMs, signal: visit.giveUp.signal, visit }, (call) =>
        this.#place.check(call, term),
      );
      this.#lastReported = undefined;
      if (mended) this.#report(new TrafficError("Mended", `${this.name}: ${mended}`));
    } catch (error) {
      if (visit.giveUp.signal.aborted) return;
      const message = `Cannot check ${this.name} at a renewal: ${messageOf(error)}`;
      // The same trouble at every renewal is told once.
      if (message !== this.#lastReported)
        this.#report(error instanceof TrafficError ? error : new Error(message, { cause: error }));
      this.#lastReported = message;
    }
  }

  async #close(): Promise<void> {
    const visit = this.#visit;
    if (!visit) return;
    visit.isOpen = false;
    visit.giveUp.abort();
    await visit.busy;
    if (!visit.mayBeIn) return;
    const timeoutMs = this.#options.closeTimeoutMs ?? defaultCloseTimeoutMs;
    const untilMs = this.#clock.now().monoMs + timeoutMs;
    try {
      await this.#repeat({ untilMs, signal: new AbortController().signal }, (call) =>
        this.#place.leave(call, visit.term),
      );
      if (this.#visit === visit) this.#visit = undefined;
    } catch (error) {
      throw new TrafficError(
        "CannotClose",
        `Cannot close the gate ${this.name} within ${timeoutMs} ms, its successor will: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }

  async #repeat<T>(attempts: Attempts, attempt: (call: Call) => Promise<T>): Promise<T> {
    const { untilMs, signal } = attempts;
    for (let delayMs = firstDelayMs; ; ) {
      try {
        return await attempt(this.#call(attempts));
      } catch (error) {
        const code = error instanceof KubeError ? error.code : "";
        const leftMs = untilMs - this.#clock.now().monoMs;
        if (signal.aborted || leftMs <= 0) throw error;
        if (overtaken.has(code)) continue;
        if (!passing.has(code)) throw error;
        await this.#pause(Math.min(delayMs, leftMs), signal);
        delayMs = Math.min(2 * delayMs, longestDelayMs);
      }
    }
  }

  #call({ untilMs, signal, visit }: Attempts): Call {
    return async (request) => {
      const leftMs = untilMs - this.#clock.now().monoMs;
      let validMs = requestTimeoutMs;
      if (visit && request.method !== "GET") {
        // Asked at the last moment: this process may have been frozen since it decided to write.
        if (!visit.term.isValid())
          throw new TrafficError("CannotOpen", `Cannot open the gate ${this.name}: the term has run out.`);
        validMs = visit.term.remainingMs();
        visit.mayBeIn = true;
      }
      const timeoutMs = Math.max(1, Math.ceil(Math.min(requestTimeoutMs, leftMs, validMs)));
      return this.#options.client.request({ ...request, timeoutMs, signal });
    };
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#clock.at(this.#clock.now().monoMs + ms, end);
      signal.addEventListener("abort", end, { once: true });
    });
  }

  #report(error: Error): void {
    (this.#options.onError ?? warn)(error);
  }
}
