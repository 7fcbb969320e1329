/** The timeline of one election as plain data, so that it can be sent to a page as JSON. */
import type { OrdersSeen } from "./observation.ts";

export type Ending =
  /** The holder emptied the record, after its work had stopped. */
  | "released"
  /** The lease ran out. */
  | "expired"
  /** Another holder wrote the record before the lease ran out. */
  | "replaced"
  /** The same holder began a new term. */
  | "restarted"
  | "deleted"
  | "unreadable";

export interface Term {
  readonly holder: string;
  /** When it began; if that was not seen, by the clock of the holder. */
  readonly fromMs: number;
  readonly isStartSeen: boolean;
  readonly transitions: number;
  readonly acquired?: string;
  token?: string;
  leaseMs: number;
  /** The last renewal, or the start. */
  lastSignMs: number;
  expiresMs: number;
  /** Undefined while it lasts. */
  toMs?: number;
  ending?: Ending;
}

export type GapReason =
  | "handover"
  | "step-down"
  | "transfer"
  | "paused"
  /** The replica exited or its machine vanished: the connection to it ended. */
  | "crash"
  /** The connection to the replica lasts, but the replica does not say anything. */
  | "frozen"
  /** The replica reported that it lost contact with the lock. */
  | "cut-off"
  /** Nobody could be asked: a crash, a freeze or a lost network. */
  | "expired"
  | "deleted"
  | "unreadable"
  /** Nobody had held the lock when the observation began. */
  | "vacant";

/** A time in which nobody led. */
export interface Gap {
  readonly fromMs: number;
  toMs?: number;
  readonly reason: GapReason;
  /** Who led before; "" if that is not known. */
  readonly after: string;
  /** The last sign of life is known, the end of the work is not: the gap is at most this long. */
  readonly isUpperBound: boolean;
  /** Who paused and why, or the target of a transfer. */
  readonly detail?: string;
}

/** A time in which a replica worked, by its own report or that of a witness. */
export interface Work {
  readonly id: string;
  readonly token?: string;
  readonly fromMs: number;
  /** Undefined while it works. */
  toMs?: number;
  readonly isWitnessed: boolean;
  /** The replica says that it stops, but it does not hold the lock: its work may have been stopped by others. */
  readonly isUnsure?: true;
}

export interface Replica {
  readonly id: string;
  /** The last report, if the replica can be reached. */
  phase?: string;
  healthy?: boolean;
  message?: string;
  reportedMs?: number;
  /** Until when its work may run, by its own report. */
  deadlineMs?: number;
  /** When the connection to it ended. */
  lostMs?: number;
  /** What another source says about it: the phase of its pod. */
  state?: string;
}

interface ShareMove {
  readonly atMs: number;
  readonly share: number;
  readonly from: string;
  readonly to: string;
}

export interface ElectionLine {
  /** `namespace/name`. */
  readonly key: string;
  /** Nothing is known about the time before this. */
  fromMs: number;
  /** In the order in which they began. No two are in force at the same time. */
  terms: Term[];
  gaps: Gap[];
  /** The times of the latest renewals, ascending. */
  renewals: number[];
  /** In the order in which they were reported. */
  work: Work[];
  /** In the order in which they were first seen. */
  replicas: Replica[];
  orders: OrdersSeen;
  notes: { atMs: number; text: string }[];
  /** For shards and permits: the owner of each. */
  owners?: string[];
  moves: ShareMove[];
  /** Why the record cannot be read. */
  problem?: string;
  /** Terms that are no longer kept. */
  forgottenTerms: number;
}

export function newElection(key: string, fromMs: number): ElectionLine {
  return {
    key,
    fromMs,
    terms: [],
    gaps: [],
    renewals: [],
    work: [],
    replicas: [],
    orders: {},
    notes: [],
    moves: [],
    forgottenTerms: 0,
  };
}

export function replicaOf(line: ElectionLine, id: string): Replica {
  const known = line.replicas.find((replica) => replica.id === id);
  if (known) return known;
  const replica: Replica = { id };
  line.replicas.push(replica);
  return replica;
}

/** The term that lasts, if there is one. */
export function presentTerm(line: ElectionLine): Term | undefined {
  const term = line.terms.at(-1);
  return term && term.toMs === undefined ? term : undefined;
}

/** The gap that lasts, if there is one. */
export function presentGap(line: ElectionLine): Gap | undefined {
  const gap = line.gaps.at(-1);
  return gap && gap.toMs === undefined ? gap : undefined;
}
