import { asError, warn } from "@tenure/base";
import type { EndReason, Failure } from "@tenure/core";

/** Where an election reports its figures. Every method is optional; none is called on a path that waits for it. */
export interface ElectionMetrics {
  /** 1 while a term is served, as client-go's leader_election_master_status. */
  leading?(isLeading: boolean): void;
  termStarted?(): void;
  termEnded?(reason: EndReason, servedMs: number): void;
  /** A request to the lock that was answered. */
  request?(during: "read" | "acquire" | "renew" | "release", tookMs: number): void;
  requestFailed?(during: "read" | "acquire" | "renew" | "release" | "watch", kind: Failure["kind"]): void;
}

/** What goes wrong with figures harms nothing but them. */
export function tell(metrics: ElectionMetrics | undefined, what: (metrics: ElectionMetrics) => void): void {
  try {
    if (metrics) what(metrics);
  } catch (error) {
    warn(asError(error));
  }
}
