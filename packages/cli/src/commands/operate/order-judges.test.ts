import { describe, expect, it } from "vitest";
import { type ElectionState, stateOf } from "../../elections/state.ts";
import { judgePause, judgeResume, judgeStepDown, judgeTransfer } from "./order-judges.ts";

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

const told = { "tenure.dev/step-down": "3" };
const before = lock("a", 3);

describe("step-down", () => {
  const judge = judgeStepDown(before);

  it("waits while the leader stops, and while nobody leads", () => {
    expect(judge(lock("a", 3, told))).toBeUndefined();
    expect(judge(lock("", 3, told))).toBeUndefined();
    expect(judge(lock("a", 3, told, 20_000))).toBeUndefined();
  });

  it("has come about with a successor, or with the same one anew", () => {
    expect(judge(lock("b", 4, told))).toEqual({
      ok: true,
      leader: "b",
      message: "b leads now; a stepped down",
    });
    expect(judge(lock("a", 4, told))).toMatchObject({
      ok: true,
      message: expect.stringContaining("leads again"),
    });
  });

  it("was overtaken when somebody took it back", () => {
    expect(judge(lock("a", 3))).toMatchObject({ ok: false, message: expect.stringContaining("overtaken") });
  });

  it("has no end without a lock", () => {
    expect(judge(undefined)).toMatchObject({ ok: false, message: expect.stringContaining("deleted") });
  });
});

describe("transfer", () => {
  const judge = judgeTransfer(before, "b");

  it("has come about only with the one that was named", () => {
    expect(judge(lock("a", 3, { "tenure.dev/transfer": "3/b" }))).toBeUndefined();
    expect(judge(lock("b", 4))).toMatchObject({ ok: true, leader: "b" });
    expect(judge(lock("c", 4))).toMatchObject({ ok: false, leader: "c" });
  });

  it("was overtaken when another was named instead", () => {
    expect(judge(lock("a", 3, { "tenure.dev/transfer": "3/c" }))).toMatchObject({ ok: false });
  });
});

describe("pause and resume", () => {
  const paused = { "tenure.dev/paused": "true" };

  it("a pause has come about when nobody leads, also by expiry", () => {
    const judge = judgePause(before);
    expect(judge(lock("a", 3, paused))).toBeUndefined();
    expect(judge(lock("", 3, paused))).toMatchObject({
      ok: true,
      message: "y/x is paused, nobody leads; a ended its term",
    });
    expect(judge(lock("a", 3, paused, 20_000))).toMatchObject({ ok: true });
  });

  it("a pause that somebody does not heed has not", () => {
    const judge = judgePause(before);
    expect(judge(lock("b", 4, paused))).toMatchObject({
      ok: false,
      message: expect.stringContaining("no tenure candidate"),
    });
    expect(judge(lock("a", 3))).toMatchObject({ ok: false, message: expect.stringContaining("resumed") });
  });

  it("a resumption has come about when somebody leads", () => {
    const judge = judgeResume(lock("", 3, paused));
    expect(judge(lock("", 3))).toBeUndefined();
    expect(judge(lock("b", 4))).toEqual({ ok: true, leader: "b", message: "y/x is resumed, b leads" });
    expect(judge(lock("", 3, paused))).toMatchObject({ ok: false });
  });
});
