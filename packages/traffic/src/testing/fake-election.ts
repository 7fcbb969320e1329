/** An election that does as the test says, for what looks at one. */
import type { Election, ElectionEvents, EndReason, Health, Term } from "@tenure/election";

type Listener = (event: never) => void;

export class FakeElection implements Pick<Election, "identity" | "leader" | "term" | "health" | "on"> {
  readonly identity = "a";
  leader: string | undefined;
  term: Term | undefined;
  healthNow: Health = { healthy: true, message: "waiting" };
  remainingMs = 9_000;
  readonly #listeners = new Map<string, Set<Listener>>();
  #ending = new AbortController();

  health(): Health {
    return this.healthNow;
  }

  on<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener as Listener));
    return () => listeners.delete(listener as Listener);
  }

  get listening(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  emit<Name extends keyof ElectionEvents>(name: Name, event: ElectionEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) (listener as (event: unknown) => void)(event);
  }

  follow(leader: string | undefined): void {
    this.leader = leader;
    this.emit("leader-changed", { leader });
  }

  lead(token = 7n): Term {
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    const term = {
      identity: this.identity,
      token,
      signal,
      isValid: () => this.remainingMs > 0,
      remainingMs: () => this.remainingMs,
    } as unknown as Term;
    this.term = term;
    this.leader = this.identity;
    this.healthNow = { healthy: true, message: "leading" };
    this.emit("leader-changed", { leader: this.identity });
    this.emit("term-started", { term });
    return term;
  }

  renew(): void {
    this.emit("renewed", { term: this.term as Term });
  }

  /** The work is asked to stop; the lease is still held. */
  beginEnd(): void {
    this.#ending.abort();
  }

  end(reason: EndReason = "step-down", released = true): void {
    const term = this.term as Term;
    this.beginEnd();
    this.term = undefined;
    this.leader = undefined;
    this.emit("leader-changed", { leader: undefined });
    this.emit("term-ended", { term, reason, released });
  }
}
