/**
 * An operator's orders to the candidates, as annotations on the lock object. `tenure step-down`, `transfer`, `pause` and
 * `resume` write them. So can anybody who has kubectl and permission to patch the lock. An invalid order is ignored.
 */
import type { Orders } from "@tenure/core";

/**
 * - paused `true`: the leader steps down, and nobody leads until the annotation is removed.
 * - stepDown `3`: the leader steps down if the record has 3 leaseTransitions.
 * - transfer `3/pod-b`: the same, and only pod-b may acquire the lock for one leaseDuration.
 */
export const orderAnnotations = {
  paused: "tenure.dev/paused",
  stepDown: "tenure.dev/step-down",
  transfer: "tenure.dev/transfer",
} as const;

export function ordersFrom(annotations: Readonly<Record<string, string>> | undefined): Orders | undefined {
  if (!annotations) return undefined;
  const stepDown = parseCount(annotations[orderAnnotations.stepDown]);
  const transfer = parseTransfer(annotations[orderAnnotations.transfer]);
  const orders: Orders = {
    ...(annotations[orderAnnotations.paused] === "true" && { paused: true }),
    ...(stepDown !== undefined && { stepDown }),
    ...(transfer && { transfer }),
  };
  return Object.keys(orders).length > 0 ? orders : undefined;
}

function parseTransfer(text: string | undefined): Orders["transfer"] {
  const slash = text?.indexOf("/") ?? -1;
  const transitions = parseCount(text?.slice(0, Math.max(slash, 0)));
  const to = text?.slice(slash + 1);
  return transitions !== undefined && to ? { transitions, to } : undefined;
}

function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
