/** Decides from a state of the lock whether an order has taken effect or has failed, and describes the outcome. Pure. */

import { titleOf } from "../../display/descriptions.ts";
import { withoutControls } from "../../display/paint.ts";
import type { Outcome } from "../../elections/await-effect.ts";
import type { ElectionState } from "../../elections/state.ts";

/** Receives undefined if the lock was deleted. Returns undefined while the outcome is open. */
export type OutcomeOf = (state: ElectionState | undefined) => Outcome | undefined;

const deleted: Outcome = {
  ok: false,
  message: "The lock was deleted meanwhile. See who creates it again with tenure watch",
};

export function isSameTerm(before: ElectionState, { record }: ElectionState): boolean {
  return (
    record.holderIdentity === before.record.holderIdentity &&
    record.leaseTransitions === before.record.leaseTransitions &&
    record.acquireTime === before.record.acquireTime
  );
}

const holderOf = ({ record }: ElectionState) => withoutControls(record.holderIdentity);

/** Succeeds once there is a successor. */
export function stepDownOutcome(before: ElectionState): OutcomeOf {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return deleted;
    if (isSameTerm(before, state)) {
      if (state.orders.stepDown || state.standing !== "led") return undefined;
      return {
        ok: false,
        leader: old,
        message: `The order was withdrawn by another user, and ${old} still leads`,
      };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    if (now === old) {
      const message = `${old} stepped down and leads again: no other candidate took the lock`;
      return { ok: true, leader: now, message };
    }
    return { ok: true, leader: now, message: `${now} leads now; ${old} stepped down` };
  };
}

export function transferOutcome(before: ElectionState, to: string): OutcomeOf {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return deleted;
    if (isSameTerm(before, state)) {
      if (state.orders.transferTo === to || state.standing !== "led") return undefined;
      return {
        ok: false,
        leader: old,
        message: `The order was replaced or withdrawn by another user, and ${old} still leads`,
      };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    if (state.record.holderIdentity === to) {
      return { ok: true, leader: now, message: `${now} leads now; ${old} handed over` };
    }
    return {
      ok: false,
      leader: now,
      message: `${now} leads now instead of ${withoutControls(to)}, which did not take the lock in time: is it a running candidate?`,
    };
  };
}

export function pauseOutcome(before: ElectionState): OutcomeOf {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return deleted;
    if (!state.orders.paused) {
      return { ok: false, message: `The order was withdrawn: another user resumed ${titleOf(before)}` };
    }
    if (state.standing !== "led") {
      const who = before.standing === "led" ? `; ${old} ended its term` : "";
      return { ok: true, message: `${titleOf(before)} is paused, and nobody leads${who}` };
    }
    if (isSameTerm(before, state)) return undefined;
    const now = holderOf(state);
    const message = `${now} took over in spite of the pause: it is not a tenure candidate, because those obey a pause`;
    return { ok: false, leader: now, message };
  };
}

export function resumeOutcome(before: ElectionState): OutcomeOf {
  return (state) => {
    if (state === undefined) return deleted;
    if (state.orders.paused) {
      return { ok: false, message: `The order was withdrawn: another user paused ${titleOf(before)} again` };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    return { ok: true, leader: now, message: `${titleOf(before)} is resumed, and ${now} leads` };
  };
}
