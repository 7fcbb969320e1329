/**
 * The orders on a lock that are in force for the present term. Orders for an earlier term have lapsed. How candidates obey
 * orders is implemented in @tenure/election.
 */
import { ordersFrom } from "@tenure/election/internal";
import type { LockObject } from "./lock-object.ts";

/** Beside the annotations of orders, for people: candidates ignore these. */
export const pauseAnnotations = {
  /** Who paused the election. */
  by: "tenure.dev/paused-by",
  reason: "tenure.dev/pause-reason",
} as const;

export interface OrdersInForce {
  readonly paused: boolean;
  /** Who paused the election, and why, if the pause says so. */
  readonly pausedBy?: string;
  readonly pauseReason?: string;
  /** The leader of the present term must step down. */
  readonly stepDown: boolean;
  /** This candidate is asked to take over from the leader of the present term. */
  readonly transferTo?: string;
  /** It has accepted, so the leader must hand over. */
  readonly transferAccepted?: boolean;
}

export function ordersIn(object: LockObject, transitions: number): OrdersInForce {
  const { paused = false, stepDown, transfer } = ordersFrom(object.metadata.annotations) ?? {};
  const isNow = transfer?.transitions === transitions;
  const { [pauseAnnotations.by]: by, [pauseAnnotations.reason]: reason } = object.metadata.annotations ?? {};
  return {
    paused,
    ...(paused && by && { pausedBy: by }),
    ...(paused && reason && { pauseReason: reason }),
    stepDown: stepDown === transitions,
    ...(isNow && { transferTo: transfer.to }),
    ...(isNow && transfer.accepted && { transferAccepted: true }),
  };
}
