import { describe, expect, it } from "vitest";
import { type ElectionState, stateOf } from "../../elections/state.ts";
import { pauseOutcome, resumeOutcome, stepDownOutcome, transferOutcome } from "./order-outcomes.ts";

const nowMs = Date.UTC(2030, 0, 1, 12);

function lock(
  holder: string,
  transitions: number,
  annotations: Record<string, string> = {},
  agoMs = 1_000,
): ElectionState {
  const renewTime = new Date(nowMs - agoMs).toISOString();
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: holder ? 15 : 1,
    acquireTime: `${holder}${transitions}`,
    renewTime,
    leaseTransitions: transitions,
  };
  const state = stateOf("lease", { metadata: { name: "x", namespace: "y", annotations }, spec }, nowMs);
  if (!state) throw new Error("no state");
  return state;
}

const ordered = { "tenure.dev/step-down": "3" };
const before = lock("a", 3);

describe("step-down", () => {
  const outcomeOf = stepDownOutcome(before);

  it("waits while the leader stops, and while nobody leads", () => {
    expect(outcomeOf(lock("a", 3, ordered))).toBeUndefined();
    expect(outcomeOf(lock("", 3, ordered))).toBeUndefined();
    expect(outcomeOf(lock("a", 3, ordered, 20_000))).toBeUndefined();
  });

  it("succeeds with a successor, or with a new term of the same leader", () => {
    expect(outcomeOf(lock("b", 4, ordered))).toEqual({
      ok: true,
      leader: "b",
      message: "b leads now; a stepped down",
    });
    expect(outcomeOf(lock("a", 4, ordered))).toMatchObject({
      ok: true,
      message: expect.stringContaining("leads again"),
    });
  });

  it("fails if the order is withdrawn", () => {
    expect(outcomeOf(lock("a", 3))).toMatchObject({
      ok: false,
      message: expect.stringContaining("withdrawn"),
    });
  });

  it("fails if the lock is deleted", () => {
    expect(outcomeOf(undefined)).toMatchObject({ ok: false, message: expect.stringContaining("deleted") });
  });
});

describe("transfer", () => {
  const outcomeOf = transferOutcome(before, "b");

  it("succeeds only with the named candidate", () => {
    expect(outcomeOf(lock("a", 3, { "tenure.dev/transfer": "3/b" }))).toBeUndefined();
    expect(outcomeOf(lock("b", 4))).toMatchObject({ ok: true, leader: "b" });
    expect(outcomeOf(lock("c", 4))).toMatchObject({ ok: false, leader: "c" });
  });

  it("fails if another candidate is named instead", () => {
    expect(outcomeOf(lock("a", 3, { "tenure.dev/transfer": "3/c" }))).toMatchObject({ ok: false });
  });
});

describe("pause and resume", () => {
  const paused = { "tenure.dev/paused": "true" };

  it("a pause succeeds when nobody leads, even by expiry", () => {
    const outcomeOf = pauseOutcome(before);
    expect(outcomeOf(lock("a", 3, paused))).toBeUndefined();
    expect(outcomeOf(lock("", 3, paused))).toMatchObject({
      ok: true,
      message: "y/x is paused, and nobody leads; a ended its term",
    });
    expect(outcomeOf(lock("a", 3, paused, 20_000))).toMatchObject({ ok: true });
  });

  it("a pause fails if a candidate ignores it or it is withdrawn", () => {
    const outcomeOf = pauseOutcome(before);
    expect(outcomeOf(lock("b", 4, paused))).toMatchObject({
      ok: false,
      message: expect.stringContaining("not a tenure candidate"),
    });
    expect(outcomeOf(lock("a", 3))).toMatchObject({ ok: false, message: expect.stringContaining("resumed") });
  });

  it("a resumption succeeds when there is a leader", () => {
    const outcomeOf = resumeOutcome(lock("", 3, paused));
    expect(outcomeOf(lock("", 3))).toBeUndefined();
    expect(outcomeOf(lock("b", 4))).toEqual({
      ok: true,
      leader: "b",
      message: "y/x is resumed, and b leads",
    });
    expect(outcomeOf(lock("", 3, paused))).toMatchObject({ ok: false });
  });
});
