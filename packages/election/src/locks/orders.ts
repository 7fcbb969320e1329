/**
 * An operator's orders to the candidates, as annotations on the lock object. `tenure step-down`, `transfer`, `pause` and
 * `resume` write them. So can anybody who has kubectl and permission to patch the lock. An invalid order is ignored.
 */
import type { Orders, Transfer } from "@tenure/core";

/**
 * - paused `true`: the leader steps down, and nobody leads until the annotation is removed.
 * - stepDown `3`: the leader steps down if the record has 3 leaseTransitions.
 * - transfer `3/pod-b`: pod-b is asked to take over from the leader with 3 leaseTransitions. Nothing else happens until it accepts.
 * - transferAccepted `3/pod-b`: pod-b accepts exactly that. The leader steps down, and only pod-b may acquire the lock for one
 *   leaseDuration. Only pod-b itself writes this.
 */
export const orderAnnotations = {
  paused: "tenure.dev/paused",
  stepDown: "tenure.dev/step-down",
  transfer: "tenure.dev/transfer",
  transferAccepted: "tenure.dev/transfer-accepted",
} as const;

export function ordersFrom(annotations: Readonly<Record<string, string>> | undefined): Orders | undefined {
  if (!annotations) return undefined;
  const stepDown = parseCount(annotations[orderAnnotations.stepDown]);
  const transfer = parseTransfer(annotations[orderAnnotations.transfer]);
  const accepted = parseTransfer(annotations[orderAnnotations.transferAccepted]);
  const isAccepted = accepted?.transitions === transfer?.transitions && accepted?.to === transfer?.to;
  const orders: Orders = {
    ...(annotations[orderAnnotations.paused] === "true" && { paused: true }),
    ...(stepDown !== undefined && { stepDown }),
    ...(transfer && { transfer: isAccepted ? { ...transfer, accepted: true } : transfer }),
  };
  return Object.keys(orders).length > 0 ? orders : undefined;
}

/** The value of both annotations of a transfer. */
export function formatTransfer({ transitions, to }: Transfer): string {
  return `${transitions}/${to}`;
}

function parseTransfer(text: string | undefined): Transfer | undefined {
  const slash = text?.indexOf("/") ?? -1;
  const transitions = parseCount(text?.slice(0, Math.max(slash, 0)));
  const to = text?.slice(slash + 1);
  return transitions !== undefined && to ? { transitions, to } : undefined;
}

function parseCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
