/** An election whose turns a test takes: it is won, renewed, lost and expired when the test says so. */
import type { ElectionLike, TermLike } from "../office.ts";
import { systemClock } from "../platform.ts";

export class FakeTerm implements TermLike {
  readonly identity = "replica-a";
  readonly token: bigint;
  readonly #signal = new AbortController();
  readonly #lost = new AbortController();
  readonly #expired = new AbortController();
  readonly signal = this.#signal.signal;
  readonly lost = this.#lost.signal;
  readonly expired = this.#expired.signal;
  #untilMs: number;

  constructor(token: bigint, lastsMs: number) {
    this.token = token;
    this.#untilMs = systemClock.now().monoMs + lastsMs;
  }

  isValid(): boolean {
    return this.remainingMs() > 0;
  }

  remainingMs(): number {
    return Math.max(0, this.#untilMs - systemClock.now().monoMs);
  }

  lasts(ms: number): void {
    this.#untilMs = systemClock.now().monoMs + ms;
  }

  end(): void {
    this.#signal.abort();
  }

  /** From now on the work has so long. */
  lose(remainingMs: number): void {
    this.lasts(remainingMs);
    this.#lost.abort();
    this.#signal.abort();
  }

  expire(): void {
    this.lose(0);
    this.#expired.abort();
  }
}

export class FakeElection implements ElectionLike {
  readonly identity = "replica-a";
  /** What happened, in order. */
  readonly log: string[] = [];
  #listeners = new Set<(event: { readonly term: TermLike }) => void>();
  #term: FakeTerm | undefined;
  #serving: Promise<unknown> | undefined;
  #begin: (work: (term: TermLike) => unknown) => void = () => {};
  readonly #work = new Promise<(term: TermLike) => unknown>((resolve) => {
    this.#begin = resolve;
  });
  #stop: (() => void) | undefined;
  #tokens = 0n;

  get term(): FakeTerm | undefined {
    return this.#term;
  }

  async run(
    work: (term: TermLike) => unknown,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    this.#begin(work);
    await new Promise<void>((resolve) => {
      this.#stop = resolve;
      if (signal?.aborted) resolve();
      signal?.addEventListener("abort", () => resolve());
    });
    this.#term?.end();
    await this.#serving;
    this.log.push("run over");
  }

  /** Wins it. The work runs until it returns; then the term is released, unless it was lost. */
  win(lastsMs = 60_000): FakeTerm {
    this.#tokens += 1n;
    const term = new FakeTerm(this.#tokens, lastsMs);
    this.#term = term;
    this.#serving = (async () => {
      await (await this.#work)(term);
      this.log.push(term.lost.aborted ? "not released" : "released");
      if (this.#term === term) this.#term = undefined;
    })();
    return term;
  }

  renew(lastsMs = 60_000): void {
    const term = this.#term;
    term?.lasts(lastsMs);
    if (term) for (const listener of this.#listeners) listener({ term });
  }

  stepDown({ cooldown = "default" }: { readonly cooldown?: string } = {}): void {
    this.log.push(`step down ${cooldown}`);
    this.#term?.end();
  }

  on(_name: "renewed", listener: (event: { readonly term: TermLike }) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the run, as a signal would. */
  stop(): void {
    this.#stop?.();
  }
}
