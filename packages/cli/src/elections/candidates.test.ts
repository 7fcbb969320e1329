import { describe, expect, it } from "vitest";
import { candidatesAmong, electionOf, standbysOf } from "./candidates.ts";
import type { LockObject } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

const nowMs = Date.UTC(2026, 0, 1);

function lease(
  identity: string,
  {
    ageMs = 1_000,
    election = "billing",
    namespace = "prod",
    standing = "waiting",
    reason = "pod-a leads",
  } = {},
): ElectionState {
  const object: LockObject = {
    metadata: {
      name: `${election}.candidate.${identity}`,
      namespace,
      labels: { "tenure.dev/candidate-of": election },
      annotations: { "tenure.dev/standing": standing, "tenure.dev/standing-reason": reason },
    },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: 150,
      renewTime: new Date(nowMs - ageMs).toISOString(),
    },
  };
  return stateOf("lease", object, nowMs) as ElectionState;
}

const billing = {
  namespace: "prod",
  name: "billing",
  record: { holderIdentity: "pod-a" } as ElectionState["record"],
};

describe("candidatesAmong", () => {
  it("finds those of this election in this namespace, in order, with why they do not lead", () => {
    const found = candidatesAmong(billing, [
      lease("pod-c", { standing: "paused", reason: "an operator paused the election" }),
      lease("pod-b"),
      lease("pod-x", { election: "other" }),
      lease("pod-y", { namespace: "test" }),
    ]);
    expect(found.map(({ identity, standing, reason }) => [identity, standing, reason])).toEqual([
      ["pod-b", "waiting", "pod-a leads"],
      ["pod-c", "paused", "an operator paused the election"],
    ]);
  });

  it("says that a candidate is gone when its Lease has expired", () => {
    const found = candidatesAmong(billing, [
      lease("pod-b", { ageMs: 149_000 }),
      lease("pod-c", { ageMs: 151_000 }),
    ]);
    expect(found.map(({ isPresent }) => isPresent)).toEqual([true, false]);
    expect(standbysOf(found, "pod-a").map(({ identity }) => identity)).toEqual(["pod-b"]);
  });

  it("believes the lock, which is newer, about who leads", () => {
    const [a, b] = candidatesAmong(billing, [
      lease("pod-a"),
      lease("pod-b", { standing: "leading", reason: "leads" }),
    ]);
    expect([a?.standing, b?.standing, b?.reason]).toEqual(["leading", "waiting", "led until a moment ago"]);
    expect(
      standbysOf(
        [a, b].filter((each) => each !== undefined),
        "pod-a",
      ),
    ).toEqual([b]);
  });
});

it("electionOf prefers the full name, because a label may be too short for it", () => {
  const { object, ...rest } = lease("pod-a", { election: "0x1234" });
  const annotations = { "tenure.dev/election-name": "a-very-long-name" };
  const named = { ...rest, object: { ...object, metadata: { ...object.metadata, annotations } } };
  expect(electionOf(named)).toBe("a-very-long-name");
  expect(
    electionOf({ ...rest, object: { ...object, metadata: { name: "x", namespace: "y" } } }),
  ).toBeUndefined();
});
