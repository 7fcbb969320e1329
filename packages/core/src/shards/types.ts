/**
 * The types of the state machine of a set of shards: its configuration, state, events and effects. The machine has one request
 * in flight at a time. The member lease is a lock of its own and runs on the state machine of an election. That machine
 * decides until when this member may work at all; this one decides on which shards.
 */
import type { LeaderRecord } from "../record.ts";
import type { EndReason, Failure } from "../types.ts";
import type { Incarnation, ShardMap } from "./shard-map.ts";

export interface SetConfig {
  readonly identity: string;
  /** The number of shards that this member wants. */
  readonly count: number;
  readonly leaseDurationMs: number;
  readonly retryPeriodMs: number;
  /** The time limit of a request. */
  readonly attemptTimeoutMs: number;
  /** How many shards a member may own. Infinity for shards, 1 for permits. */
  readonly mostPerMember: number;
  /** How many shards this member moves to others at a time. */
  readonly maxMoving: number;
  /** Whether a shard whose work has ended by itself goes to another member that has room. */
  readonly passOn: boolean;
  /** Wait one leaseDuration before a new map is used: somebody may have deleted an earlier one together with member leases. */
  readonly waitWhenAbsent: boolean;
  /** How long a shard rests after its work has ended by itself. */
  readonly cooldownMs: number;
  /** How long the work may take to stop when its shard moves. After that it is reported. */
  readonly drainTimeoutMs: number;
}

/** One version of the object with the map. */
export interface MapView {
  readonly uid: string;
  /** Grows with every change of any object of the set, even over deletion. The source of fencing tokens. */
  readonly revision: bigint;
  readonly map: ShardMap;
  /** The object as it was read, so that a write keeps every field that is not ours. */
  readonly object?: unknown;
}

/** One version of a member lease. */
export interface LeaseView {
  readonly name: string;
  readonly uid: string;
  readonly revision: bigint;
  readonly record: LeaderRecord;
  readonly object?: unknown;
}

/** All objects of a set at one revision. */
export interface SetView {
  readonly revision: bigint;
  readonly map: MapView | undefined;
  readonly leases: readonly LeaseView[];
}

type KnownMap =
  | { readonly kind: "unknown" }
  | { readonly kind: "absent"; readonly sinceMs: number }
  | { readonly kind: "present"; readonly view: MapView; readonly sinceMs: number };

export interface KnownLease {
  readonly view: LeaseView;
  /** When this member learned of the record. A change of metadata alone does not count. */
  readonly sinceMs: number;
}

type Membership =
  /** The member lease is not held, or its loss has been dealt with. */
  | { readonly kind: "none" }
  /** `isEnding`: the lease ends on purpose, as soon as all shards are given away. */
  | { readonly kind: "held"; readonly me: Incarnation; readonly isEnding: boolean }
  /** The lease is lost, and work may still be running. */
  | { readonly kind: "lost" };

export interface ShardTerm {
  /** The revision of the map in which this member first saw that it owns the shard (G2). */
  readonly token: bigint;
  /** The number of shards by which this shard is defined. */
  readonly count: number;
  /**
   * - working: the work runs.
   * - draining: the work was told to stop, because the shard moves or the member leaves.
   * - stopped: the work has stopped, and this member still owns the shard.
   * - lost: the shard is not ours any more, and its work has not stopped yet.
   */
  readonly phase: "working" | "draining" | "stopped" | "lost";
  readonly reason?: EndReason;
  /** While draining, and while lost to another member: when the work has used up its time to stop. */
  readonly untilMs?: number;
  /** While stopped: the shard rests until then. */
  readonly restUntilMs?: number;
  /** While draining and stopped: whether the shard is to be moved. Otherwise its work ended by itself, or was given up. */
  readonly isMove?: boolean;
  /**
   * While stopped: this member sent a write that keeps the shard, over the map of this revision. A new term begins with any
   * later map in which the shard is ours: from then on no earlier write of this member can give it away.
   */
  readonly reclaimedOver?: bigint;
}

export type SetRequest = "list" | "write" | "fence" | "remove";

export interface SetInFlight {
  readonly id: number;
  readonly kind: SetRequest;
  readonly timeoutAtMs: number;
  /** The value of `SetState.gaps` when it was sent. */
  readonly gaps: number;
  /** The value of `SetState.revision` when it was sent. A list that shows less comes from a store that went back in time. */
  readonly revision: bigint;
  readonly sentMs: number;
  /** The lease that it removes. */
  readonly removed?: LeaseView;
}

export interface SetState {
  readonly isStarted: boolean;
  readonly stopping: boolean;
  /** The caller was told that this member has given away everything. */
  readonly hasLeft: boolean;
  readonly map: KnownMap;
  readonly leases: ReadonlyMap<string, KnownLease>;
  /** The revisions of deletions that no list has confirmed yet, by name of the lease; "" is the map. */
  readonly deletions: ReadonlyMap<string, bigint>;
  /** Every change up to this revision is known. Later changes of single objects may be known too. */
  readonly revision: bigint;
  /** Whether every change since the last list has been reported. */
  readonly isContiguous: boolean;
  /** Counts the gaps in the watch. A list that was sent before a gap does not end it. */
  readonly gaps: number;
  /** Since when the lease of an incarnation that the map names has been gone, by key. */
  readonly goneSinceMs: ReadonlyMap<string, number>;
  /** Members whose lease vanished while they held it. They may work until then. */
  readonly vanished: readonly { readonly incarnation: Incarnation; readonly untilMs: number }[];
  /** After the store went back in time: nothing starts before this time. */
  readonly quarantineUntilMs: number;
  readonly membership: Membership;
  readonly terms: ReadonlyMap<number, ShardTerm>;
  /** The highest token that each shard has had in this process. */
  readonly lastTokens: ReadonlyMap<number, bigint>;
  readonly inFlight: SetInFlight | undefined;
  readonly nextId: number;
  readonly mustList: boolean;
  readonly watchUp: boolean;
  readonly lastContactMs: number;
  /** When the last list that was answered was sent. */
  readonly lastListMs: number;
  readonly failures: number;
  readonly retryAtMs: number;
}

/** After `failed`, a write may or may not have been committed. `gone`: the object does not exist. */
export type SetAnswer =
  | { readonly kind: "listed"; readonly view: SetView }
  | { readonly kind: "map"; readonly view: MapView }
  | { readonly kind: "lease"; readonly view: LeaseView }
  | { readonly kind: "removed" }
  | { readonly kind: "gone" }
  | { readonly kind: "conflict" }
  | { readonly kind: "failed"; readonly failure: Failure };

export type SetEvent =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  /** The member lease was acquired. */
  | { readonly type: "joined"; readonly me: Incarnation }
  /** The member lease ends on purpose. It is renewed until "work-stopped" is reported to it. */
  | { readonly type: "lease-ending" }
  /** The member lease is lost. `expired`: no work may run any more. */
  | { readonly type: "lease-lost"; readonly reason: EndReason }
  /** The owner of the work wants to end the term of a shard. */
  | { readonly type: "step-down"; readonly shard: number }
  | { readonly type: "work-stopped"; readonly shard: number; readonly token: bigint }
  | { readonly type: "answer"; readonly id: number; readonly answer: SetAnswer }
  | { readonly type: "map-observed"; readonly view: MapView }
  | { readonly type: "map-deleted"; readonly revision: bigint }
  | { readonly type: "lease-observed"; readonly view: LeaseView }
  | { readonly type: "lease-deleted"; readonly name: string; readonly revision: bigint }
  /** Changes may have been missed. */
  | { readonly type: "gap" }
  | { readonly type: "watch-up" }
  | { readonly type: "watch-down" }
  | { readonly type: "tick" };

export type SetEffect =
  | { readonly type: "list"; readonly id: number; readonly timeoutMs: number }
  | {
      readonly type: "write";
      readonly id: number;
      /** The version that the write replaces; it fails on any other. undefined: the write creates the map. */
      readonly over: MapView | undefined;
      readonly map: ShardMap;
      readonly timeoutMs: number;
    }
  /** Writes this record over the expired lease of another member, so that the member cannot renew it any more. */
  | {
      readonly type: "fence";
      readonly id: number;
      readonly over: LeaseView;
      readonly record: LeaderRecord;
      readonly timeoutMs: number;
    }
  /** Deletes a lease that nobody needs any more, if it is still this version. */
  | { readonly type: "remove"; readonly id: number; readonly over: LeaseView; readonly timeoutMs: number }
  | { readonly type: "cancel"; readonly id: number }
  | {
      readonly type: "shard-started";
      readonly shard: number;
      readonly count: number;
      readonly token: bigint;
    }
  /** The work should stop and may take its time: the shard is still ours. */
  | { readonly type: "shard-ending"; readonly shard: number; readonly reason: EndReason }
  /**
   * The shard is not ours any more, or will not be. `expired`: another member may already be working on it. Otherwise the work
   * may use the time that is left of the member lease.
   */
  | {
      readonly type: "shard-lost";
      readonly shard: number;
      readonly reason: EndReason;
      readonly expired: boolean;
    }
  /** The work takes too long to stop. */
  | { readonly type: "overrun"; readonly shard: number }
  | {
      readonly type: "shard-ended";
      readonly shard: number;
      readonly token: bigint;
      readonly reason: EndReason;
    }
  | { readonly type: "assignment-changed" }
  /** Everything is given away: the member lease can be released. */
  | { readonly type: "leave" }
  /** The work of the membership has stopped: report it to the member lease. */
  | { readonly type: "membership-stopped" }
  | { readonly type: "failed"; readonly during: SetRequest; readonly failure: Failure };
