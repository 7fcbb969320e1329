/**
 * What was seen of elections, one object for each thing seen. The timeline is computed from these alone, and a recording is a
 * list of them. All times are milliseconds since 1970 by one clock that never jumps: that of the observer.
 */

/** The orders of an operator that are in force for the present term. */
export interface OrdersSeen {
  readonly paused?: true;
  /** Who paused, and why, as far as the pause says so. */
  readonly pausedBy?: string;
  readonly pauseReason?: string;
  readonly stepDown?: true;
  readonly transferTo?: string;
  readonly transferAccepted?: true;
}

interface Seen {
  readonly atMs: number;
  /** `namespace/name`. */
  readonly election: string;
}

/** The record of the lock has a new holder, a new term or new orders; or it is seen for the first time. */
export interface LockSeen extends Seen {
  readonly kind: "lock";
  /** "" if nobody holds the lock. */
  readonly holder: string;
  readonly transitions: number;
  /** acquireTime as the holder wrote it. A new value is a new term. */
  readonly acquired?: string;
  readonly leaseMs: number;
  /** The fencing token of the term: the revision of the write that began it, if that write was seen. */
  readonly token?: string;
  /** In the first state seen: how long the holder has held the lock, and how long its lease is still valid. */
  readonly heldForMs?: number;
  readonly expiresInMs?: number;
  readonly orders?: OrdersSeen;
}

/** The holder renewed its lease, and nothing else changed. */
interface LeaseRenewed extends Seen {
  readonly kind: "renewed";
}

interface LockDeleted extends Seen {
  readonly kind: "deleted";
}

interface LockUnreadable extends Seen {
  readonly kind: "unreadable";
  readonly problem: string;
}

/** A replica reported its own state. */
export interface ReplicaReported extends Seen {
  readonly kind: "replica";
  readonly id: string;
  readonly phase: string;
  /** Whether work of a term may run, as the replica itself says. */
  readonly works: boolean;
  readonly token?: string;
  /** Time until its work must have stopped, without another renewal. */
  readonly deadlineInMs?: number;
  readonly healthy: boolean;
  readonly message: string;
}

/** The connection to a replica ended: the replica exited, or the network failed. */
interface ReplicaLost extends Seen {
  readonly kind: "lost";
  readonly id: string;
}

/** A witness saw this replica work from one moment to another. Its clock is that of the other lines. */
interface WorkWitnessed extends Seen {
  readonly kind: "work";
  readonly id: string;
  readonly token?: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Which replicas take part, by another source than the lock: the pods of a workload. */
interface CandidatesListed extends Seen {
  readonly kind: "candidates";
  readonly candidates: readonly { readonly id: string; readonly state: string }[];
}

/** The owners of the shards or permits of a set. */
export interface SharesSeen extends Seen {
  readonly kind: "shares";
  /** The owner of each share; "" if it has none. */
  readonly owners: readonly string[];
}

/** Something that explains what follows: a fault that a test injected. */
interface Noted extends Seen {
  readonly kind: "note";
  readonly text: string;
}

/** From here on changes are missed, or seen again. Concerns all elections. */
export interface WatchChanged {
  readonly kind: "watch";
  readonly atMs: number;
  readonly up: boolean;
  readonly message?: string;
}

/** Time has passed. The last line of a complete recording. */
export interface TimePassed {
  readonly kind: "time";
  readonly atMs: number;
}

export type Observation =
  | LockSeen
  | LeaseRenewed
  | LockDeleted
  | LockUnreadable
  | ReplicaReported
  | ReplicaLost
  | WorkWitnessed
  | CandidatesListed
  | SharesSeen
  | Noted
  | WatchChanged
  | TimePassed;
