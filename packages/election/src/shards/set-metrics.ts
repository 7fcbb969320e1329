import type { EndReason, Failure } from "@tenure/core";

/** Where shards and semaphores report their measurements. Every method is optional. The run does not wait for any of them. */
export interface SetMetrics {
  /** On how many shards or permits this process works now. */
  owning?(count: number): void;
  /** The work of a shard or permit has started. */
  termStarted?(index: number): void;
  /** The work of a shard or permit has stopped, after `servedMs` milliseconds. */
  termEnded?(index: number, reason: EndReason, servedMs: number): void;
  /** A request failed, or the watch did. */
  requestFailed?(during: string, kind: Failure["kind"]): void;
}
