/**
 * The part that all gates share that write to the API server: they retry transient errors until a deadline, do one thing
 * at a time, and write for a term only while it is valid.
 * The server may still execute a request after the gate has stopped waiting for it. Therefore every write is
 * compare-and-swap, and closing always writes: that write makes a request that is still in flight fail with a conflict.
 */
import { Backoff, type Clock, messageOf, sleep, systemClock, warn } from "@tenure/base";
import { type KubeClient, KubeError, type KubeRequest } from "@tenure/kube";
import { TrafficError } from "../errors.ts";
import type { Gate, GateTerm } from "../gate.ts";

export interface KubeGateOptions {
  readonly client: Pick<KubeClient, "request">;
  readonly namespace: string;
  /** How long opening may take, including all retries. @default 10_000 */
  readonly openTimeoutMs?: number;
  /** How long closing may take, including all retries. The release of the lease waits for it. @default 5_000 */
  readonly closeTimeoutMs?: number;
  /** Called with each error while the gate is open, and with each `Mended` notice. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** @default the system clock */
  readonly clock?: Clock;
}

export type Call = <T>(request: Omit<KubeRequest, "timeoutMs" | "signal">) => Promise<T>;

/** What a gate does to objects in the cluster. Each method is one attempt: it reads, decides and writes. Retries repeat all of it. */
export interface GateBackend {
  prepare(call: Call): Promise<void>;
  /** Takes a leader of an earlier term out of traffic. Writes nothing if there is none. */
  takeOver(call: Call, term: GateTerm): Promise<void>;
  open(call: Call, term: GateTerm): Promise<void>;
  /** Restores what somebody changed. Resolves with a description of that change, if there was one. */
  check(call: Call, term: GateTerm): Promise<string | undefined>;
  close(call: Call, term: GateTerm): Promise<void>;
}

/** From one opening of the gate to its closing. */
interface Session {
  readonly term: GateTerm;
  /** Aborts when the gate closes. */
  readonly closing: AbortController;
  isOpen: boolean;
  /** Whether a write was sent. If not, closing has nothing to undo. */
  hasWritten: boolean;
  busy: Promise<void> | undefined;
}

interface Attempts {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
  /** Writes are sent only while the term of this session is valid. */
  readonly session?: Session;
}

const defaultOpenTimeoutMs = 10_000;
const defaultCloseTimeoutMs = 5_000;
/** Less than the other time-outs, so that one request that hangs leaves time for a retry. */
const requestTimeoutMs = 3_000;
const backoff = { firstMs: 50, mostMs: 1_000, jitter: 0 };
/** An attempt with less time than this would fail because of its own limit, and hide the real cause. */
const leastAttemptMs = 250;

/** Another writer was faster. Reading again and deciding again helps at once. */
const conflictCodes: ReadonlySet<string> = new Set(["Conflict", "AlreadyExists"]);
/** May go away without any action. */
const transientCodes: ReadonlySet<string> = new Set([
  "TooManyRequests",
  "ServerTimeout",
  "ServerError",
  "Unreachable",
  "Timeout",
  "BadResponse",
]);

/** Whether a failed `prepare` may succeed later without any action. */
export function isTransient(error: unknown): boolean {
  if (error instanceof KubeError) return transientCodes.has(error.code);
  if (!(error instanceof TrafficError)) return false;
  // `prepareGates` reports several gates together.
  return Array.isArray(error.cause) ? error.cause.every(isTransient) : isTransient(error.cause);
}

export class KubeGate implements Gate {
  readonly name: string;
  readonly #backend: GateBackend;
  readonly #options: KubeGateOptions;
  readonly #clock: Clock;
  #isPrepared = false;
  #session: Session | undefined;
  #closing: Promise<void> | undefined;
  /** The takeover in progress. Never rejects. */
  #takingOver: { readonly session: Session; readonly done: Promise<void> } | undefined;
  #lastCheckError: string | undefined;

  constructor(name: string, backend: GateBackend, options: KubeGateOptions) {
    this.name = name;
    this.#backend = backend;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async prepare(): Promise<void> {
    await this.#prepare();
  }

  async takeOver(term: GateTerm): Promise<void> {
    await this.#closing?.catch(() => {});
    // Before `prepare` it is not known whether the gate can work at all, and `open` does the same.
    if (!this.#isPrepared || this.#takingOver || this.#session?.term.token === term.token) return;
    const session = newSession(term);
    const { signal } = session.closing;
    const deadlineMs = this.#after(this.#options.openTimeoutMs ?? defaultOpenTimeoutMs);
    const acting = this.#retry({ deadlineMs, signal, session }, (call) => this.#backend.takeOver(call, term));
    const done = acting.then(
      () => {},
      () => {},
    );
    this.#takingOver = { session, done };
    try {
      await acting;
    } catch (error) {
      // It was interrupted by `open`, which does the same, or by `close`.
      if (!signal.aborted) throw this.#cannotOpen(error);
    } finally {
      this.#takingOver = undefined;
    }
  }

  async open(term: GateTerm): Promise<void> {
    await this.#closing?.catch(() => {});
    await this.#endTakeOver();
    const session = newSession(term);
    this.#session = session;
    const { signal } = session.closing;
    const opening = (async () => {
      if (!this.#isPrepared) await this.#prepare(signal);
      const deadlineMs = this.#after(this.#options.openTimeoutMs ?? defaultOpenTimeoutMs);
      await this.#retry({ deadlineMs, signal, session }, (call) => this.#backend.open(call, term));
      session.isOpen = true;
    })();
    session.busy = opening
      .catch(() => {})
      .finally(() => {
        session.busy = undefined;
      });
    try {
      await opening;
    } catch (error) {
      // The server may have executed the write although the gate saw an error.
      await this.close().catch(() => {});
      throw this.#cannotOpen(error);
    }
  }

  renewed(term: GateTerm): void {
    const session = this.#session;
    if (!session?.isOpen || session.term.token !== term.token || session.busy) return;
    session.busy = this.#check(session).finally(() => {
      session.busy = undefined;
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close().finally(() => {
      this.#closing = undefined;
    });
    return this.#closing;
  }

  async #prepare(signal?: AbortSignal): Promise<void> {
    const deadlineMs = this.#after(this.#options.openTimeoutMs ?? defaultOpenTimeoutMs);
    try {
      await this.#retry({ deadlineMs, ...(signal && { signal }) }, (call) => this.#backend.prepare(call));
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

  async #check(session: Session): Promise<void> {
    const { term } = session;
    const { signal } = session.closing;
    const deadlineMs = this.#after(term.remainingMs());
    try {
      const mended = await this.#retry({ deadlineMs, signal, session }, (call) =>
        this.#backend.check(call, term),
      );
      this.#lastCheckError = undefined;
      if (mended) this.#report(new TrafficError("Mended", `${this.name}: ${mended}`));
    } catch (error) {
      if (signal.aborted) return;
      const message = `Cannot check the gate ${this.name} at a renewal: ${messageOf(error)}`;
      // An error that repeats at every renewal is reported once.
      if (message !== this.#lastCheckError)
        this.#report(error instanceof TrafficError ? error : new Error(message, { cause: error }));
      this.#lastCheckError = message;
    }
  }

  async #endTakeOver(): Promise<void> {
    this.#takingOver?.session.closing.abort();
    await this.#takingOver?.done;
  }

  async #close(): Promise<void> {
    await this.#endTakeOver();
    const session = this.#session;
    if (!session) return;
    session.isOpen = false;
    session.closing.abort();
    await session.busy;
    if (!session.hasWritten) return;
    const timeoutMs = this.#options.closeTimeoutMs ?? defaultCloseTimeoutMs;
    try {
      await this.#retry({ deadlineMs: this.#after(timeoutMs) }, (call) =>
        this.#backend.close(call, session.term),
      );
      if (this.#session === session) this.#session = undefined;
    } catch (error) {
      throw new TrafficError(
        "CannotClose",
        `Cannot close the gate ${this.name} within ${timeoutMs} ms: ${messageOf(error)}. The next leader takes this replica out of traffic.`,
        { cause: error },
      );
    }
  }

  async #retry<T>(attempts: Attempts, attempt: (call: Call) => Promise<T>): Promise<T> {
    const { deadlineMs, signal } = attempts;
    const delays = new Backoff(backoff, () => 0);
    for (;;) {
      try {
        return await attempt(this.#call(attempts));
      } catch (error) {
        const code = error instanceof KubeError ? error.code : "";
        const leftMs = deadlineMs - this.#clock.now().monoMs;
        if (signal?.aborted || leftMs <= 0) throw error;
        if (conflictCodes.has(code)) continue;
        const pauseMs = delays.next();
        if (!transientCodes.has(code) || leftMs - pauseMs < leastAttemptMs) throw error;
        await sleep(this.#clock, pauseMs, signal);
      }
    }
  }

  #call({ deadlineMs, signal, session }: Attempts): Call {
    return async (request) => {
      const leftMs = deadlineMs - this.#clock.now().monoMs;
      let validMs = requestTimeoutMs;
      if (session && request.method !== "GET") {
        // Checked directly before the request: this process may have been frozen since it decided to write.
        if (!session.term.isValid())
          throw new TrafficError("CannotOpen", `Cannot open the gate ${this.name}: the term has expired.`);
        validMs = session.term.remainingMs();
        session.hasWritten = true;
      }
      const timeoutMs = Math.max(1, Math.ceil(Math.min(requestTimeoutMs, leftMs, validMs)));
      return this.#options.client.request({ ...request, timeoutMs, ...(signal && { signal }) });
    };
  }

  #after(ms: number): number {
    return this.#clock.now().monoMs + ms;
  }

  #report(error: Error): void {
    (this.#options.onError ?? warn)(error);
  }
}

function newSession(term: GateTerm): Session {
  return { term, closing: new AbortController(), isOpen: false, hasWritten: false, busy: undefined };
}
