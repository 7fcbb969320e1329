/** The parts of an election and of a term that the supervisor uses. `Election` and `Term` of @tenure/election have them. */

export interface SupervisedTerm {
  readonly identity: string;
  readonly token: bigint;
  /** Aborts when the work should stop, on purpose or by loss. */
  readonly signal: AbortSignal;
  /** Aborts when the term is lost. From then on the work must have stopped within `remainingMs()`. */
  readonly lost: AbortSignal;
  /** Aborts when no work of the term may run any more. */
  readonly expired: AbortSignal;
  isValid(): boolean;
  remainingMs(): number;
}

export interface SupervisedElection {
  readonly identity: string;
  run(work: (term: SupervisedTerm) => unknown, options?: { readonly signal?: AbortSignal }): Promise<void>;
  stepDown(options?: { readonly cooldown?: string }): void;
  on(name: "renewed", listener: (event: { readonly term: SupervisedTerm }) => void): () => void;
}
