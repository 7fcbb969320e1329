import { asError, warn } from "@tenure/base";
import type { EndReason, Failure, RequestKind } from "@tenure/core";

/** Where an election reports its measurements. Every method is optional. The election does not wait for any of them. */
export interface ElectionMetrics {
  /** Whether this process leads, like client-go's leader_election_master_status. */
  leading?(isLeading: boolean): void;
  /** A term of this process has started. */
  termStarted?(): void;
  /** A term of this process has ended, after `servedMs` milliseconds. */
  termEnded?(reason: EndReason, servedMs: number): void;
  /** A request to the lock was answered. */
  request?(during: RequestKind, tookMs: number): void;
  /** A request to the lock failed, or its watch did. */
  requestFailed?(during: RequestKind | "watch", kind: Failure["kind"]): void;
}

/** Calls the metrics. An error in them becomes a warning and does not affect the election. */
export function report(metrics: ElectionMetrics | undefined, call: (metrics: ElectionMetrics) => void): void {
  try {
    if (metrics) call(metrics);
  } catch (error) {
    warn(asError(error));
  }
}
