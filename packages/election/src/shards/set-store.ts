/** The interface between a set of shards and the place that stores its map and its member leases. */
import type { Failure, LeaderRecord, LeaseView, MapView, SetAnswer, SetEvent, ShardMap } from "@tenure/core";
import type { Lock } from "../lock.ts";

/** What the watch of a set calls. */
export interface SetObserver {
  /** An object of the set changed. Changes are reported in order. */
  changed(
    event: Extract<SetEvent, { type: "map-observed" | "map-deleted" | "lease-observed" | "lease-deleted" }>,
  ): void;
  /** From now on every change is reported. @param isGapless whether none was missed since the last report */
  up(isGapless: boolean): void;
  /** From now on changes may be missed. */
  down(failure: Failure): void;
  /** Changes may have been missed, or one was unreadable. */
  gap(): void;
}

/** No method rejects: a failure is an answer too. Each write changes an object only if it is still exactly as it was read. */
export interface SetStore {
  /** For messages: `shards default/billing`. */
  readonly description: string;
  /** Called before the requests of each run. Rejects if the store cannot work until a person fixes something. */
  prepare(): Promise<void>;
  /** The lease of the member with this identity. Called after `prepare`. */
  memberLease(identity: string): { readonly name: string; readonly lock: Lock };
  /** All objects of the set at one revision, none older than the call. */
  list(signal: AbortSignal, timeoutMs: number): Promise<SetAnswer>;
  /** Writes the map over `over`, or creates it if `over` is undefined. A map that exists may be answered instead. */
  write(map: ShardMap, over: MapView | undefined, signal: AbortSignal, timeoutMs: number): Promise<SetAnswer>;
  /** Writes the record over the lease of another member. */
  fence(record: LeaderRecord, over: LeaseView, signal: AbortSignal, timeoutMs: number): Promise<SetAnswer>;
  /** Deletes a lease. */
  remove(over: LeaseView, signal: AbortSignal, timeoutMs: number): Promise<SetAnswer>;
  /** Reports changes until the signal aborts, and reconnects by itself. */
  watch(observer: SetObserver, signal: AbortSignal): void;
}
