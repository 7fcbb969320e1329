/**
 * A gate puts this replica into traffic and takes it out. It opens when the work is ready. It closes after the work has
 * stopped and before the lease is released; if the term is lost, it closes at once, while the work is being stopped.
 * Each gate documents its own guarantees. No gate can make a proxy or a client forget an address sooner.
 */
import type { Term } from "@tenure/election";

/** The part of a term that a gate uses. */
export interface GateTerm extends Pick<Term, "identity" | "isValid" | "remainingMs"> {
  /** The fencing token, as digits or as a number. */
  readonly token: Term["token"] | bigint;
}

export interface Gate {
  readonly name: string;
  /** A file that exists only while the gate is open. A process that outlives this one can remove it. @default none */
  readonly path?: string;
  /**
   * Called once, before this replica becomes a candidate. Takes the replica out of traffic and rejects if the gate could
   * not open later, for example because a permission is missing. If nobody calls it, `open` does the same first.
   */
  prepare?(): Promise<void>;
  /**
   * Called if the work of a new term is not ready soon: takes the last leader out of traffic if it could not do so itself,
   * before this replica is in. Without effect once the gate opens. Rejects if the last leader may still be in traffic.
   */
  takeOver?(term: GateTerm): Promise<void>;
  /** Rejects if this replica could not be put into traffic. The caller should then end the term. */
  open(term: GateTerm): Promise<void>;
  /** Called at every renewal, to restore what somebody else changed. */
  renewed?(term: GateTerm): void;
  /** Idempotent, and settles in bounded time. Rejects if this replica may still be in traffic; its successor removes it. */
  close(): Promise<void>;
}
