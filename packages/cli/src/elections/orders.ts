/**
 * The orders on a lock that are in force for the present term. Orders for an earlier term have lapsed. How candidates obey
 * orders is implemented in @tenure/election.
 */
import { ordersFrom } from "@tenure/election/internal";
import type { LockObject } from "./lock-object.ts";

export interface OrdersInForce {
  readonly paused: boolean;
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
  return {
    paused,
    stepDown: stepDown === transitions,
    ...(isNow && { transferTo: transfer.to }),
    ...(isNow && transfer.accepted && { transferAccepted: true }),
  };
}
