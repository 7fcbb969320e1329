/** What the simulation needs from a process, whatever runs in it. */
import type { CheckedCandidate } from "./checker.ts";
import type { Machine } from "./machine.ts";

export interface CandidateProcess extends CheckedCandidate {
  readonly machine: Machine;
  readonly isLeading: boolean;
  /** The longest lease that this candidate has been shown or has itself. */
  readonly longestLeaseMs: number;
  /** The highest revision of the lock that this candidate knows. Only by this can it notice that the store went back. */
  readonly highestRevision: bigint;
  /** Whether this candidate has seen this lock. Only then can it notice its deletion. */
  knows(uid: string): boolean;
  start(): void;
  shutdown(): void;
  stepDown(): void;
  /** The work ends by itself. */
  endWork(): void;
  crash(): void;
  freeze(): void;
  thaw(): void;
}
