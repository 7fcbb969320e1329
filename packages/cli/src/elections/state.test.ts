import { leaderAnnotation } from "@tenure/election/internal";
import { describe, expect, it } from "vitest";
import type { LockObject } from "./lock-object.ts";
import { stateOf } from "./state.ts";

const nowMs = Date.UTC(2030, 0, 1, 12);
const at = (agoMs: number) => new Date(nowMs - agoMs).toISOString();
const record = {
  holderIdentity: "pod-a",
  leaseDurationSeconds: 15,
  acquireTime: at(60_000),
  renewTime: at(3_000),
  leaseTransitions: 4,
};

function lease(spec: object, metadata: Partial<LockObject["metadata"]> = {}): LockObject {
  return {
    metadata: { name: "billing", namespace: "prod", ...metadata },
    spec: spec as Record<string, unknown>,
  };
}

const storedAt = (agoMs: number) => ({
  managedFields: [{ time: at(agoMs), fieldsV1: { "f:spec": { "f:renewTime": {} } } }],
});

describe("a Lease", () => {
  it("that is held shows who leads, for how long, and when it expires", () => {
    expect(stateOf("lease", lease(record), nowMs)).toMatchObject({
      standing: "led",
      leader: "pod-a",
      heldForMs: 60_000,
      ageMs: 3_000,
      expiresInMs: 12_000,
    });
  });

  it("that has expired has no leader", () => {
    const state = stateOf("lease", lease({ ...record, renewTime: at(16_000) }), nowMs);
    expect(state).toMatchObject({ standing: "expired", expiresInMs: -1_000 });
    expect(state).not.toHaveProperty("leader");
  });

  it.each([
    ["released", { holderIdentity: "", leaseDurationSeconds: 1, renewTime: at(5_000), leaseTransitions: 4 }],
    ["released", { leaseTransitions: 1 }],
    ["never-held", {}],
    ["unreadable", { holderIdentity: 7 }],
  ])("can be %s", (standing, spec) => {
    expect(stateOf("lease", lease(spec), nowMs)?.standing).toBe(standing);
  });

  it("without a lease duration gets the one that candidates assume", () => {
    const state = stateOf("lease", lease({ ...record, leaseDurationSeconds: 0 }), nowMs);
    expect(state).toMatchObject({ standing: "led", expiresInMs: 12_000 });
  });

  it("of a holder whose clock is off gets the time at which the server stored it", () => {
    const slow = lease({ ...record, acquireTime: at(3_660_000), renewTime: at(3_603_000) }, storedAt(3_000));
    expect(stateOf("lease", slow, nowMs)).toMatchObject({
      standing: "led",
      ageMs: 3_000,
      heldForMs: 60_000,
      holderClockOffMs: -3_600_000,
    });
    const fast = lease({ ...record, renewTime: at(-3_600_000) }, storedAt(20_000));
    expect(stateOf("lease", fast, nowMs)).toMatchObject({ standing: "expired", ageMs: 20_000 });
  });

  it("keeps the holder's more precise time if the clocks agree", () => {
    const state = stateOf("lease", lease({ ...record, renewTime: at(2_400) }, storedAt(3_000)), nowMs);
    expect(state).toMatchObject({ ageMs: 2_400 });
    expect(state).not.toHaveProperty("holderClockOffMs");
  });

  it("has the orders for this term, and none for an earlier one", () => {
    const annotations = {
      "tenure.dev/step-down": "3",
      "tenure.dev/transfer": "4/pod-b/1",
      "tenure.dev/paused": "true",
    };
    expect(stateOf("lease", lease(record, { annotations }), nowMs)?.orders).toEqual({
      paused: true,
      stepDown: false,
      transferTo: "pod-b/1",
    });
  });
});

describe("a ConfigMap", () => {
  const configMap = (json?: string): LockObject => ({
    metadata: {
      name: "billing",
      namespace: "prod",
      ...(json !== undefined && { annotations: { [leaderAnnotation]: json } }),
    },
  });

  it("has the record in its annotation", () => {
    const { leaseTransitions, ...rest } = record;
    const json = JSON.stringify({ ...rest, leaderTransitions: leaseTransitions });
    expect(stateOf("configmap", configMap(json), nowMs)).toMatchObject({
      standing: "led",
      leader: "pod-a",
      record: { leaseTransitions: 4 },
    });
  });

  it("without the annotation is not a lock", () => {
    expect(stateOf("configmap", configMap(), nowMs)).toBeUndefined();
  });

  it.each(["", "{", "null", "[]"])("with the annotation %j has a problem", (json) => {
    const state = stateOf("configmap", configMap(json), nowMs);
    expect(state?.standing).toBe("unreadable");
    expect(state?.record.problem).toContain(JSON.stringify(json));
  });
});
