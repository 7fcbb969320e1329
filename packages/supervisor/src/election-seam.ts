/** The parts of an election and of a term that the supervisor uses. `Election` and `Term` of @tenure/election have them. */

export interface SupervisedTerm {
  readonly identity: string;
  readonly token: string | bigint;
  /** Aborts when the work should stop, on purpose or by loss. */
  readonly signal: AbortSignal;
  /** Aborts when the term is lost. From then on the work must have stopped within `remainingMs()`. */
  readonly lost: AbortSignal;
  /** Aborts when no work of the term may run any more. */
  readonly expired: AbortSignal;
  isValid(): boolean;
  remainingMs(): number;
}

/** The token as a number. Children get it without leading zeros, because a shell takes a number with them as octal. */
export function tokenOf(term: SupervisedTerm | undefined): bigint | undefined {
  return term && BigInt(term.token);
}

export interface SupervisedElection {
  readonly identity: string;
  run(work: (term: SupervisedTerm) => unknown, options?: { readonly signal?: AbortSignal }): Promise<void>;
  stepDown(options?: { readonly cooldown?: string }): void;
  on(name: "renewed", listener: (event: { readonly term: SupervisedTerm }) => void): () => void;
}

/** Where it is recorded that work that is done once is done: at the lock, so that the record is ordered with the terms. */
export interface Completion {
  /** Whether the work is recorded as done. The supervisor asks again if this rejects. */
  isRecorded(signal: AbortSignal): Promise<boolean>;
  /**
   * Records that the work is done. Must write only over the record of this term, by compare-and-swap. Resolves with false if the
   * lock belongs to somebody else by now. The supervisor tries again if this rejects.
   */
  record(term: SupervisedTerm, signal: AbortSignal): Promise<boolean>;
}
