/**
 * The orders on a lock, as an operator sees them: which are in force for the present term, and which lapsed with an earlier
 * one. What candidates make of them is the business of @tenure/election.
 */
import { ordersFrom } from "@tenure/election/internal";
import type { LockObject } from "./lock-object.ts";

export interface OrdersInForce {
  readonly paused: boolean;
  /** The present term was told to end. */
  readonly stepDown: boolean;
  /** The present term was told to make way for this candidate. */
  readonly transferTo?: string;
}

export function ordersIn(object: LockObject, transitions: number): OrdersInForce {
  const { paused = false, stepDown, transfer } = ordersFrom(object.metadata.annotations) ?? {};
  const isNow = transfer?.transitions === transitions;
  return { paused, stepDown: stepDown === transitions, ...(isNow && { transferTo: transfer.to }) };
}

/** In words, for whoever asks why nobody or somebody else leads. */
export function describeOrders({ paused, stepDown, transferTo }: OrdersInForce): string[] {
  return [
    ...(paused ? ["paused: nobody takes office until it is resumed"] : []),
    ...(stepDown ? ["step down: the leader was told to end this term"] : []),
    ...(transferTo === undefined ? [] : [`transfer: the leader was told to make way for ${transferTo}`]),
  ];
}
