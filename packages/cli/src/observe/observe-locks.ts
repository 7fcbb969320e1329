/**
 * Turns the states of locks into observations for the timeline and for recordings. A state that differs only in its renewal is a
 * renewal. Pure.
 */
import type { Observation, OrdersSeen } from "@tenure/ui";
import { titleOf } from "../display/descriptions.ts";
import type { OrdersInForce } from "../elections/orders.ts";
import { type ElectionState, leaseSecondsOf } from "../elections/state.ts";
import { isMemberOfSet, sharesIn } from "./shares.ts";

export class LockObservations {
  /** What a renewal does not change, by election. */
  readonly #known = new Map<string, string>();

  of(state: ElectionState, atMs: number): Observation[] {
    const election = titleOf(state);
    const { record, standing } = state;
    if (standing === "unreadable") {
      this.#known.delete(election);
      return [{ kind: "unreadable", atMs, election, problem: record.problem ?? "unknown" }];
    }
    const shares = sharesIn(state.object);
    if (shares !== undefined)
      return this.#ifNew(election, { kind: "shares", atMs, election, owners: shares });
    // Its owner is shown with the map of its set.
    if (isMemberOfSet(state.object)) return [];
    const isFirst = !this.#known.has(election);
    const orders = ordersSeen(state.orders);
    // A later write of the same term has a later revision, which is not the token. So has an order that somebody added.
    const isFirstWrite = record.renewTime !== undefined && record.renewTime === record.acquireTime;
    const isOrdered = Object.keys(orders).length > 0;
    const { resourceVersion } = state.object.metadata;
    const isToken = isFirstWrite && !(isFirst && isOrdered);
    const { acquireTime, holderIdentity: holder, leaseTransitions: transitions } = record;
    const same = {
      holder,
      transitions,
      leaseMs: leaseSecondsOf(record) * 1_000,
      ...(acquireTime !== undefined && { acquired: acquireTime }),
      ...(isOrdered && { orders }),
    };
    const key = JSON.stringify(same);
    if (this.#known.get(election) === key) return holder === "" ? [] : [{ kind: "renewed", atMs, election }];
    this.#known.set(election, key);
    return [
      {
        kind: "lock",
        atMs,
        election,
        ...same,
        ...(holder !== "" && isToken && resourceVersion !== undefined && { token: resourceVersion }),
        ...(isFirst && state.heldForMs !== undefined && { heldForMs: state.heldForMs }),
        ...(isFirst && state.expiresInMs !== undefined && { expiresInMs: state.expiresInMs }),
      },
    ];
  }

  deleted(namespace: string, name: string, atMs: number): Observation {
    const election = titleOf({ namespace, name });
    this.#known.delete(election);
    return { kind: "deleted", atMs, election };
  }

  #ifNew(election: string, seen: Extract<Observation, { kind: "shares" }>): Observation[] {
    const key = JSON.stringify(seen.owners);
    if (this.#known.get(election) === key) return [];
    this.#known.set(election, key);
    return [seen];
  }
}

function ordersSeen({
  paused,
  pausedBy,
  pauseReason,
  stepDown,
  transferTo,
  transferAccepted,
}: OrdersInForce): OrdersSeen {
  return {
    ...(paused && { paused }),
    ...(pausedBy !== undefined && { pausedBy }),
    ...(pauseReason !== undefined && { pauseReason }),
    ...(stepDown && { stepDown }),
    ...(transferTo !== undefined && { transferTo }),
    ...(transferAccepted && { transferAccepted }),
  };
}
