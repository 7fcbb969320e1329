/**
 * An operator's orders to the candidates, as annotations on the lock object. `tenure step-down`, `transfer`, `pause` and
 * `resume` write them; so can anybody with kubectl and the right to patch the lock. What cannot be read orders nothing.
 */
import type { Orders } from "@tenure/core";

/**
 * - paused `true`: the leader stops, and nobody leads until the annotation is gone.
 * - stepDown `3`: the leader whose record says 3 leaseTransitions steps down.
 * - transfer `3/pod-b`: it steps down, and the others leave the lock to pod-b for one leaseDuration.
 */
export const orderAnnotations = {
  paused: "tenure.dev/paused",
  stepDown: "tenure.dev/step-down",
  transfer: "tenure.dev/transfer",
} as const;

export function ordersFrom(annotations: Readonly<Record<string, string>> | undefined): Orders | undefined {
  if (!annotations) return undefined;
  const stepDown = count(annotations[orderAnnotations.stepDown]);
  const transfer = transferIn(annotations[orderAnnotations.transfer]);
  const orders: Orders = {
    ...(annotations[orderAnnotations.paused] === "true" && { paused: true }),
    ...(stepDown !== undefined && { stepDown }),
    ...(transfer && { transfer }),
  };
  return Object.keys(orders).length > 0 ? orders : undefined;
}

function transferIn(text: string | undefined): Orders["transfer"] {
  const slash = text?.indexOf("/") ?? -1;
  const transitions = count(text?.slice(0, Math.max(slash, 0)));
  const to = text?.slice(slash + 1);
  return transitions !== undefined && to ? { transitions, to } : undefined;
}

function count(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
