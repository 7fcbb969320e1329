/** What the supervisor needs of an election and of a term. `Election` and `Term` of @tenure/election are such. */

export interface TermLike {
  readonly identity: string;
  readonly token: bigint;
  /** Aborts when the work should stop, on purpose or by loss. */
  readonly signal: AbortSignal;
  /** Aborts when the term is lost: from then on the work must be gone within `remainingMs()`. */
  readonly lost: AbortSignal;
  /** Aborts when nothing of the term may run any more. */
  readonly expired: AbortSignal;
  isValid(): boolean;
  remainingMs(): number;
}

export interface ElectionLike {
  readonly identity: string;
  run(work: (term: TermLike) => unknown, options?: { readonly signal?: AbortSignal }): Promise<void>;
  stepDown(options?: { readonly cooldown?: string }): void;
  on(name: "renewed", listener: (event: { readonly term: TermLike }) => void): () => void;
}
