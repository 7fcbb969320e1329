/**
 * A gate lets traffic through to this replica and keeps it out. Opened when the work is ready, closed after it stopped and
 * before the lease is released; on a loss closed at once, beside the stopping.
 * What each gate guarantees is said where it is made; none can make a proxy or a client forget an address any sooner.
 */
import type { Term } from "@tenure/election";

/** What a gate asks of a term. */
export type GateTerm = Pick<Term, "identity" | "token" | "isValid" | "remainingMs">;

export interface Gate {
  readonly name: string;
  /**
   * Once, before this replica takes part: says that it is not in traffic, and finds out what would keep the gate from
   * opening, a missing right for one. `open` does it if nobody did.
   */
  prepare?(): Promise<void>;
  /** Rejects if this replica could not be put into traffic; the term should then be given up. */
  open(term: GateTerm): Promise<void>;
  /** At every renewal, to mend what somebody else changed. */
  renewed?(term: GateTerm): void;
  /** Idempotent. Settles in bounded time; rejects if this replica may still be in traffic, where its successor ends it. */
  close(): Promise<void>;
}
