/** When an order has come about, when it cannot any more, and what to say of it. Pure: one state in, a verdict out. */
import type { Verdict } from "../../elections/await-effect.ts";
import { harmless } from "../../elections/paint.ts";
import type { ElectionState } from "../../elections/state.ts";
import { titleOf } from "../../elections/words.ts";

export type Judge = (state: ElectionState | undefined) => Verdict | undefined;

const gone: Verdict = {
  ok: false,
  message: "The lock was deleted meanwhile: see who made it anew with tenure watch",
};

function isSameTerm(before: ElectionState, { record }: ElectionState): boolean {
  return (
    record.holderIdentity === before.record.holderIdentity &&
    record.leaseTransitions === before.record.leaseTransitions &&
    record.acquireTime === before.record.acquireTime
  );
}

const holderOf = ({ record }: ElectionState) => harmless(record.holderIdentity);

/** The successor, once there is one. */
export function judgeStepDown(before: ElectionState): Judge {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return gone;
    if (isSameTerm(before, state)) {
      if (state.orders.stepDown || state.standing !== "led") return undefined;
      return {
        ok: false,
        leader: old,
        message: `The order was overtaken: somebody took it back, and ${old} leads on`,
      };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    if (now === old) {
      const why = "no other candidate took it";
      return { ok: true, leader: now, message: `${old} stepped down and leads again: ${why}` };
    }
    return { ok: true, leader: now, message: `${now} leads now; ${old} stepped down` };
  };
}

export function judgeTransfer(before: ElectionState, to: string): Judge {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return gone;
    if (isSameTerm(before, state)) {
      if (state.orders.transferTo === to || state.standing !== "led") return undefined;
      return {
        ok: false,
        leader: old,
        message: `The order was overtaken: somebody replaced it or took it back, and ${old} leads on`,
      };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    if (state.record.holderIdentity === to) {
      return { ok: true, leader: now, message: `${now} leads now; ${old} made way` };
    }
    return {
      ok: false,
      leader: now,
      message: `${now} leads now, and not ${harmless(to)}, which did not take the lock in its time: is it a running candidate?`,
    };
  };
}

export function judgePause(before: ElectionState): Judge {
  const old = holderOf(before);
  return (state) => {
    if (state === undefined) return gone;
    if (!state.orders.paused) {
      return { ok: false, message: `The order was overtaken: somebody resumed ${titleOf(before)}` };
    }
    if (state.standing !== "led") {
      const who = before.standing === "led" ? `; ${old} ended its term` : "";
      return { ok: true, message: `${titleOf(before)} is paused, nobody leads${who}` };
    }
    if (isSameTerm(before, state)) return undefined;
    const now = holderOf(state);
    const message = `${now} took office in spite of the pause: it is no tenure candidate, for those heed it`;
    return { ok: false, leader: now, message };
  };
}

export function judgeResume(before: ElectionState): Judge {
  return (state) => {
    if (state === undefined) return gone;
    if (state.orders.paused) {
      return { ok: false, message: `The order was overtaken: somebody paused ${titleOf(before)} again` };
    }
    if (state.standing !== "led") return undefined;
    const now = holderOf(state);
    return { ok: true, leader: now, message: `${titleOf(before)} is resumed, ${now} leads` };
  };
}
