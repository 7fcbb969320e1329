/** Sentences about elections: their state, their changes, their orders. */
import type { Flapping } from "../elections/flapping.ts";
import type { Change } from "../elections/history.ts";
import type { OrdersInForce } from "../elections/orders.ts";
import type { ElectionState } from "../elections/state.ts";
import { ago, spell } from "./durations.ts";
import { withoutControls } from "./paint.ts";

export function titleOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Who leads, or why nobody does. */
export function describeState(state: ElectionState): string {
  const holder = withoutControls(state.record.holderIdentity);
  const when = state.ageMs === undefined ? "" : ` ${ago(state.ageMs)}`;
  switch (state.standing) {
    case "led":
      return `${holder} leads`;
    case "expired":
      return `Nobody leads: ${holder} last renewed${when}, and its lease expired ${ago(-(state.expiresInMs ?? 0))}`;
    case "released":
      return state.orders.paused
        ? "Nobody leads: the election is paused"
        : `Nobody leads: the lock was released${when} and no candidate has taken it`;
    case "never-held":
      return "Nobody leads: the lock was never held";
    case "unreadable":
      return `The leader is unknown: ${state.record.problem}`;
  }
}

/** When the record was renewed, and when it expires. */
export function describeFreshness({ ageMs, expiresInMs, standing }: ElectionState): string {
  if (ageMs === undefined) return "unknown";
  if (expiresInMs === undefined) return ago(ageMs);
  const end = standing === "expired" ? `expired ${ago(-expiresInMs)}` : `expires in ${spell(expiresInMs)}`;
  return `${ago(ageMs)}, ${end}`;
}

const pausedText = "paused: no candidate takes over until the election is resumed";

/** " (by alice: upgrade of the database)", or nothing. */
function describePause({ pausedBy, pauseReason }: OrdersInForce): string {
  const parts = [...(pausedBy ? [`by ${pausedBy}`] : []), ...(pauseReason ? [pauseReason] : [])];
  return parts.length === 0 ? "" : ` (${withoutControls(parts.join(": "))})`;
}

export function describeOrders(orders: OrdersInForce): string[] {
  const { paused, stepDown, transferTo, transferAccepted } = orders;
  return [
    ...(paused ? [`${pausedText}${describePause(orders)}`] : []),
    ...(stepDown ? ["step down: the leader was told to end this term"] : []),
    ...(transferTo === undefined ? [] : [`transfer: ${describeTransfer(transferTo, transferAccepted)}`]),
  ];
}

function describeTransfer(to: string, isAccepted = false): string {
  return isAccepted
    ? `${to} accepted, and the leader was told to hand over`
    : `${to} was asked to take over and has not answered`;
}

export function describeFlapping({ takeovers, withinMs }: Flapping): string {
  return `leadership changed ${takeovers} times in the last ${spell(withinMs)}`;
}

export function describeChange({ kind, leader, other, gapMs, heldMs, transitions }: Change): string {
  const held = heldMs === undefined ? "" : ` after ${spell(heldMs)}`;
  switch (kind) {
    case "leads": {
      const details = [
        `transition ${transitions ?? 0}`,
        ...(heldMs === undefined ? [] : [`for ${spell(heldMs)} so far`]),
        ...(gapMs === undefined ? [] : [`after ${spell(gapMs)} without a leader`]),
        ...(other === undefined ? [] : [other === leader ? "a new term" : `before: ${other}`]),
      ];
      return `${leader} leads (${details.join(", ")})`;
    }
    case "released":
      return `${other} released the lock${held}`;
    case "expired":
      return `${other} did not renew in time: nobody leads`;
    case "vacant":
      return "nobody leads";
    case "deleted":
      return `the lock was deleted${other === undefined ? "" : ` while ${other} held it`}`;
    case "paused":
      return pausedText;
    case "resumed":
      return "resumed";
    case "step-down":
      return "the leader was told to step down";
    case "transfer":
      return `${other} was asked to take over`;
    case "transfer-accepted":
      return `${other} accepted, and the leader was told to hand over`;
    case "unreadable":
      return "the record is not readable: see tenure status for the reason";
  }
}
