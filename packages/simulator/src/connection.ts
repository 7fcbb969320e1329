/** The faults of the network between one process and the API server. Each kind of fault sets a field here while it lasts. */
import type { Random } from "./random.ts";

export type ErrorKind =
  | "conflict"
  | "throttled"
  | "denied"
  | "internal"
  | "unavailable"
  | "proxy"
  | "network"
  | "cut";

export class Connection {
  requestsCut = false;
  answersCut = false;
  slowMs = 0;
  loseAnswers = 0;
  duplicateRequests = 0;
  errors: { readonly kind: ErrorKind; readonly probability: number } | undefined;
  /** The server rejects writes of this object, 0 or 1: a role or an admission webhook is for one kind of objects. */
  rejectedObject: number | undefined;
  watchStalled = false;
  watchDropsEvents = false;
  /** The watch connects, and never sends anything. */
  watchSilent = false;
  /** How long the process waits for a file or a credential plugin. */
  slowCredentialsMs = 0;

  readonly #store: { readonly isDown: boolean };
  readonly #random: Random;
  readonly #listeners = new Set<() => void>();

  constructor(store: { readonly isDown: boolean }, random: Random) {
    this.#store = store;
    this.#random = random;
  }

  get isCut(): boolean {
    return this.requestsCut || this.answersCut || this.#store.isDown;
  }

  /** Calls back when a fault begins or ends. The returned function removes the listener. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Must be called when a fault begins or ends: watches may break, or deliver delayed events. */
  changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  latencyMs(): number {
    return this.#random.between(0.5, 3) + this.#random.next() * this.slowMs;
  }
}
