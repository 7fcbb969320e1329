/** What the simulation and the checker need from a member of a set, whatever runs in it. */
import type { ShardMap } from "@tenure/core";
import type { Fault } from "../plan.ts";

export interface MemberOptions {
  readonly identity: string;
  readonly count: number;
  readonly leaseSeconds: number;
  readonly mostPerMember: number;
  readonly passOn: boolean;
  readonly waitWhenAbsent: boolean;
  /** How fast its clock runs. */
  readonly rate: number;
  /** The longest time that its work takes to stop. */
  readonly stopMs: number;
}

export interface Work {
  readonly shard: number;
  readonly count: number;
  readonly token: bigint;
  /** The hashes of its keys, from `start` up to, but without, `end`. */
  readonly start: bigint;
  readonly end: bigint;
}

export interface MemberHooks {
  started(member: Participant, work: Work): void;
  log(line: string): void;
}

/** The faults of the connection between a member and the server. */
export interface LinkState {
  isCut: boolean;
  /** How likely a request or its answer is lost. */
  loss: number;
  /** The longest delay of a message. */
  slowMs: number;
  /** The watch reports nothing, and nobody notices. */
  isWatchSilent: boolean;
}

export const goodLink: LinkState = { isCut: false, loss: 0, slowMs: 20, isWatchSilent: false };

export interface Participant {
  readonly options: MemberOptions;
  readonly isAlive: boolean;
  readonly isFrozen: boolean;
  /** It was asked to leave. */
  readonly isLeaving: boolean;
  /** It takes no part any more. */
  readonly hasEnded: boolean;
  /** Its work by shard. Some of it may have to stop. */
  readonly works: ReadonlyMap<number, Work>;
  /** The work that may run at this instant. */
  readonly working: readonly Work[];
  leave(): void;
  crash(): void;
  freeze(): void;
  /** @param suspendedMs for how long the monotonic clock stood still meanwhile */
  thaw(suspendedMs: number): void;
  /** The work of a shard ends by itself. */
  endWork(shard: number): void;
  /** Changes its connection. */
  disturb(state: Partial<LinkState>): void;
  /** The watch breaks: whatever has not been delivered is never reported. */
  breakWatch(): void;
  /** Requests fail in a way that only a member with a real client meets. @param until is given what ends it */
  inject?(fault: Pick<Fault, "kind" | "amount">, until: (end: () => void) => void): void;
}

/** The place of the set, as somebody with kubectl sees it. A name is "map", or the identity of a member for its lease. */
export interface SetPlace {
  readonly map: ShardMap | undefined;
  delete(name: string): void;
  /** Somebody removes the label by hand. Every write of a member puts it back. */
  unlabel(name: string): void;
}
