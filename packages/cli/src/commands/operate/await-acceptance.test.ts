import { describe, expect, it } from "vitest";
import { type ElectionState, stateOf } from "../../elections/state.ts";
import { acceptanceWaitMs, isUnanswered } from "./await-acceptance.ts";

const nowMs = Date.UTC(2030, 0, 1, 12);

function lock(holder: string, transitions: number, annotations: object = {}, seconds = 15): ElectionState {
  const spec = {
    holderIdentity: holder,
    leaseDurationSeconds: seconds,
    acquireTime: `${holder}${transitions}`,
    renewTime: new Date(nowMs).toISOString(),
    leaseTransitions: transitions,
  };
  const metadata = { name: "x", namespace: "y", annotations: annotations as Record<string, string> };
  return stateOf("lease", { metadata, spec }, nowMs) as ElectionState;
}

const asked = { "tenure.dev/transfer": "3/b" };

describe("isUnanswered", () => {
  const proposal = { given: lock("a", 3, asked), to: "b" };
  it.each<[boolean, string, ElectionState | undefined]>([
    [true, "the order stands", lock("a", 3, asked)],
    [false, "it is accepted", lock("a", 3, { ...asked, "tenure.dev/transfer-accepted": "3/b" })],
    [
      true,
      "only an earlier order was accepted",
      lock("a", 3, { ...asked, "tenure.dev/transfer-accepted": "3/c" }),
    ],
    [false, "another candidate is named", lock("a", 3, { "tenure.dev/transfer": "3/c" })],
    [false, "it is withdrawn", lock("a", 3)],
    [false, "another candidate leads", lock("c", 4, asked)],
    [false, "the lock is deleted", undefined],
  ])("is %s if %s", (expected, _when, state) => expect(isUnanswered(proposal, state)).toBe(expected));
});

describe("acceptanceWaitMs", () => {
  it.each([
    ["5 s with the usual lease", 15, 60_000, 5_000],
    ["5 s with a short lease", 4, 60_000, 5_000],
    ["a third of a long lease", 60, 60_000, 20_000],
    ["not longer than the whole command waits", 60, 1_000, 1_000],
  ])("is %s", (_what, seconds, timeoutMs, waitMs) => {
    expect(acceptanceWaitMs({ given: lock("a", 3, asked, seconds), timeoutMs })).toBe(waitMs);
  });
});
