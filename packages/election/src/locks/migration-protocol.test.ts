import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { found, mine, released, unknown } from "../testing/migration-lock.ts";
import {
  beginWrite,
  endWrite,
  initialProtocolState,
  isNews,
  nextWriteStep,
  observeViews,
  type ProtocolState,
  sideToAccept,
  type Views,
} from "./migration-protocol.ts";

function object(uid: string, revision: number, record: LeaderRecord = released): LockView {
  return { uid, version: String(revision), revision: BigInt(revision), record };
}

/** The combined views of several answers in a row. */
function observeAll(...all: readonly Views[]): { state: ProtocolState; answers: Answer[] } {
  let state = initialProtocolState;
  const answers = all.map((views) => {
    const observed = observeViews(state, views, state.known);
    state = observed.state;
    return observed.answer;
  });
  return { state, answers };
}

const both: Views = { from: object("F", 5), to: object("T", 7) };

describe("the orders of the lock", () => {
  const pause = { paused: true };
  const transfer = { transfer: { transitions: 0, to: "b" } };
  it.each([
    ["a pause in from and a transfer in to", pause, transfer],
    ["a transfer in from and a pause in to", transfer, pause],
  ])("are those of both objects: %s", (_what, inFrom, inTo) => {
    const views: Views = {
      from: { ...object("F", 5), orders: inFrom },
      to: { ...object("T", 7), orders: inTo },
    };
    const [answer] = observeAll(views).answers.map(found);
    expect(answer?.orders).toEqual({ ...pause, ...transfer });
    const side = inFrom === transfer ? "from" : "to";
    expect(sideToAccept(views, answer as LockView)).toBe(side);
  });

  it("are absent if neither has any", () => {
    const [answer] = observeAll(both).answers.map(found);
    expect(answer).not.toHaveProperty("orders");
    expect(sideToAccept(both, answer as LockView)).toBeUndefined();
  });
});

describe("the uid of the lock", () => {
  it.each<[string, Views, boolean]>([
    ["from is deleted", { ...both, from: undefined }, true],
    ["to is deleted", { ...both, to: undefined }, true],
    ["from is replaced", { ...both, from: object("F2", 9) }, true],
    ["to is replaced", { ...both, to: object("T2", 9) }, true],
    ["from is written", { ...both, from: object("F", 9) }, false],
    ["to is written", { ...both, to: object("T", 9) }, false],
  ])("%s: changes: %s", (_what, after, isOther) => {
    const [first, second] = observeAll(both, after).answers.map(found);
    expect(first?.uid !== second?.uid).toBe(isOther);
    expect(first?.version).not.toBe(second?.version);
  });

  it("does not change when a missing object is created, because nobody can have held it", () => {
    for (const before of [
      { ...both, from: undefined },
      { ...both, to: undefined },
    ]) {
      const [first, second] = observeAll(before, both).answers.map(found);
      expect(second?.uid).toBe(first?.uid);
    }
  });

  it("changes again when the deleted object is deleted once more", () => {
    const without: Views = { ...both, to: undefined };
    const answers = observeAll(both, without, { ...both, to: object("T2", 9) }, without).answers.map(found);
    expect(answers.map(({ uid }) => uid)).toEqual([0, 1, 1, 2].map((n) => `generation ${n}`));
  });

  it("differs after both objects were deleted and created again", () => {
    const { answers } = observeAll(both, { from: undefined, to: undefined }, both);
    expect(answers[1]).toEqual({ kind: "absent" });
    expect(found(answers[2] as Answer).uid).not.toBe(found(answers[0] as Answer).uid);
  });
});

describe("the revision", () => {
  it("is that of the newer object, and does not fall when that one is deleted", () => {
    const { answers } = observeAll(both, { ...both, to: undefined }, { ...both, to: object("T2", 9) });
    expect(answers.map((answer) => found(answer).revision)).toEqual([7n, 7n, 9n]);
  });

  it("falls if the store was restored, so that the candidate notices", () => {
    const { answers, state } = observeAll(both, { from: object("F", 2), to: object("T", 3) });
    expect(found(answers[1] as Answer).revision).toBe(3n);
    expect(state.revision).toBe(3n);
  });

  it("falls if the store was restored while only one object exists", () => {
    const only = (revision: number): Views => ({ from: object("F", revision), to: undefined });
    const { answers } = observeAll(only(5), only(3), only(4));
    expect(answers.map((answer) => found(answer).revision)).toEqual([5n, 3n, 4n]);
  });
});

describe("an answer that was overtaken by another one", () => {
  const { state } = observeAll(both);
  const overtaken = (views: Views) => observeViews(state, views, initialProtocolState.known);

  it.each<[string, Views]>([
    ["an object is missing", { ...both, to: undefined }],
    ["one object is older and the other one newer", { from: object("F", 4), to: object("T", 8) }],
  ])("is a conflict if its age is unknown: %s", (_what, views) => {
    expect(overtaken(views)).toEqual({ state, answer: { kind: "conflict" } });
  });

  it("is recognised by its revision if it is older, and changes nothing", () => {
    const { answer, state: after } = overtaken({ from: object("F0", 2), to: object("T0", 3) });
    expect(found(answer).revision).toBe(3n);
    expect(after).toBe(state);
  });

  it("counts if it is newer", () => {
    const views = { ...both, to: object("T", 8, recordOf("b")) };
    const { answer, state: after } = overtaken(views);
    expect(found(answer).revision).toBe(8n);
    expect(after.known).toBe(views);
  });
});

describe("a write", () => {
  const ok: Answer = { kind: "found", view: object("X", 9) };
  const failure = { kind: "failed", failure: { kind: "timeout", message: "x" } } as const;

  it.each<[string, LeaderRecord, Partial<Record<"from" | "to", Answer>>, object]>([
    ["of a holder begins with from", mine, {}, { do: "write", side: "from" }],
    ["of a holder goes on with to", mine, { from: ok }, { do: "write", side: "to" }],
    ["of a release begins with to", released, {}, { do: "write", side: "to" }],
    ["of a release goes on with from", released, { to: ok }, { do: "write", side: "from" }],
    ["is complete when both confirm", mine, { from: ok, to: ok }, { do: "complete" }],
    ["stops at a conflict", mine, { from: { kind: "conflict" } }, { answer: { kind: "conflict" } }],
    ["stops at a missing object", mine, { from: { kind: "absent" } }, { answer: { kind: "conflict" } }],
    ["stops at a failure, after which it may be committed", mine, { from: failure }, { answer: failure }],
    [
      "is not complete if the second object conflicts",
      mine,
      { from: ok, to: { kind: "conflict" } },
      { do: "give-up" },
    ],
    [
      "is not complete if the second object is missing",
      mine,
      { from: ok, to: { kind: "absent" } },
      { do: "give-up" },
    ],
    ["is not complete if the second answer is lost", mine, { from: ok, to: failure }, { do: "give-up" }],
    ["of a release is not complete if from fails", released, { to: ok, from: failure }, { do: "give-up" }],
  ])("%s", (_what, record, answers, expected) => {
    expect(nextWriteStep(record, answers)).toMatchObject(expected);
  });

  it("makes its identity our own for ever, in one object or in two terms", () => {
    let { state } = observeAll(both);
    for (let n = 0; n < 100; n++) {
      const record = { ...mine, renewTime: `${n}` };
      state = endWrite(beginWrite(state, record), record);
    }
    expect(state.identities).toEqual(["me"]);
    expect(state.writing).toEqual([]);
    const half: Views = { from: object("F", 9, { ...mine, renewTime: "0" }), to: undefined };
    const { answer } = observeViews(state, half, state.known);
    expect(found(answer).record.holderIdentity).toBe(unknown);
  });

  it("of a release is no identity", () => {
    expect(beginWrite(initialProtocolState, released).identities).toEqual([]);
  });
});

describe("a watch event is news", () => {
  const { state } = observeAll(both);

  it("unless its version is known or its record is being written", () => {
    expect(isNews(state, "from", object("F", 5))).toBe(false);
    expect(isNews(state, "to", object("T", 5))).toBe(true);
    const writing = beginWrite(state, mine);
    expect(isNews(writing, "to", object("T", 9, mine))).toBe(false);
    expect(isNews(endWrite(writing, mine), "to", object("T", 9, mine))).toBe(true);
  });
});
