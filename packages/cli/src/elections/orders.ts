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
  /** The leader of the present term must hand over to this candidate. */
  readonly transferTo?: string;
}

export function ordersIn(object: LockObject, transitions: number): OrdersInForce {
  const { paused = false, stepDown, transfer } = ordersFrom(object.metadata.annotations) ?? {};
  const isNow = transfer?.transitions === transitions;
  return { paused, stepDown: stepDown === transitions, ...(isNow && { transferTo: transfer.to }) };
}
