import { formatShardMap } from "@tenure/core";
import { describe, expect, it } from "vitest";
import type { LockObject } from "./lock-object.ts";
import { formatIndexes, setOf } from "./sets.ts";

const nowMs = Date.UTC(2026, 0, 1);
const time = (ageMs: number) => new Date(nowMs - ageMs).toISOString();

const member = (identity: string, shards: readonly number[], leaving = false) => ({
  identity,
  lease: `billing.shards.${identity}`,
  uid: `uid ${identity}`,
  acquired: time(60_000),
  leaseSeconds: 15,
  count: 4,
  leaving,
  shards,
});

const lease = (identity: string, ageMs: number): LockObject => ({
  metadata: { name: `billing.shards.${identity}`, namespace: "prod", uid: `uid ${identity}` },
  spec: {
    holderIdentity: identity,
    leaseDurationSeconds: 15,
    acquireTime: time(60_000),
    renewTime: time(ageMs),
  },
});

const map = (text: string): LockObject => ({
  metadata: { name: "billing.shards", namespace: "prod", annotations: { "tenure.dev/map": text } },
});

const text = formatShardMap({
  count: 5,
  forming: false,
  waiting: [],
  members: [member("a", [0, 1]), member("b", [2], true), member("c", [3])],
  write: "w",
});

describe("setOf", () => {
  it("says who works on what, who is dead, and what nobody works on", () => {
    const set = setOf(
      "shards",
      "prod",
      "billing",
      [map(text), lease("a", 1_000), lease("b", 2_000), lease("c", 16_000)],
      nowMs,
    );
    expect(set).toEqual({
      kind: "shards",
      namespace: "prod",
      name: "billing",
      count: 5,
      members: [
        { identity: "a", isAlive: true, isLeaving: false, owns: [0, 1], renewedMs: 1_000 },
        { identity: "b", isAlive: true, isLeaving: true, owns: [2], renewedMs: 2_000 },
        { identity: "c", isAlive: false, isLeaving: false, owns: [3], renewedMs: 16_000 },
      ],
      unowned: [3, 4],
    });
  });

  it("does not take a lease that was acquired again for that of the member in the map", () => {
    const again = { ...lease("a", 1_000), spec: { ...lease("a", 1_000).spec, acquireTime: time(5_000) } };
    expect(setOf("shards", "prod", "billing", [map(text), again], nowMs)?.members[0]?.isAlive).toBe(false);
  });

  it("is undefined without a map, and says why a map cannot be read", () => {
    expect(setOf("shards", "prod", "billing", [lease("a", 0)], nowMs)).toBeUndefined();
    expect(setOf("shards", "prod", "billing", [map("x")], nowMs)?.problem).toMatch(/not JSON/);
  });
});

it("formatIndexes shortens sequences", () => {
  expect(formatIndexes([0, 1, 2, 3, 7, 9, 10])).toBe("0-3, 7, 9-10");
  expect(formatIndexes([])).toBe("");
});
