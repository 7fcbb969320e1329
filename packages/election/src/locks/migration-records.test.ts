import type { LeaderRecord } from "@tenure/core";
import { isRelease } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { mine, released, unknown } from "../testing/migration-lock.ts";
import { combineRecords, onlyRecord } from "./migration-records.ts";

const isOwn = (identity: string) => identity === "me";
const renewed = { ...mine, renewTime: "2030-01-01T00:00:03.000001Z" };
const ofOtherTerm = { ...mine, acquireTime: "2030-01-01T00:00:09.000009Z" };
const foreign = recordOf("b");
const foreignRenewed = { ...foreign, renewTime: "2030-01-01T00:00:03.000001Z" };

describe("the record of both objects", () => {
  it.each<[string, LeaderRecord, LeaderRecord, Partial<LeaderRecord>]>([
    ["the same record in both is that record", mine, mine, mine],
    ["our renewal that reached only from has renewed nothing", renewed, mine, mine],
    [
      "our acquisition that reached only from is nobody's record",
      mine,
      released,
      { holderIdentity: unknown },
    ],
    ["our acquisition over our own older term is nobody's", ofOtherTerm, mine, { holderIdentity: unknown }],
    ["our acquisition over somebody else's record is nobody's", mine, foreign, { holderIdentity: unknown }],
    ["our release that reached only to is nobody's record", mine, released, { holderIdentity: unknown }],
    [
      "two releases are a release",
      released,
      { ...released, renewTime: "u" },
      { holderIdentity: "", leaseDurationSeconds: 1 },
    ],
    [
      "an object without a record is free, and its missing duration does not shorten the wait",
      { ...released, leaseDurationSeconds: undefined },
      recordOf("b", { leaseDurationSeconds: 60 }),
      { holderIdentity: unknown, leaseDurationSeconds: 60 },
    ],
  ])("%s", (_what, from, to, expected) => {
    expect(combineRecords({ from, to }, isOwn)).toMatchObject(expected);
  });

  it("changes with each half of a renewal of another candidate, so the wait for an object counts from when it was seen", () => {
    const views = [
      [foreign, foreign],
      [foreignRenewed, foreign],
      [foreignRenewed, foreignRenewed],
    ] as const;
    const records = views.map(([from, to]) => combineRecords({ from, to }, isOwn));
    expect(records.map(({ holderIdentity }) => holderIdentity)).toEqual(["b", "b", "b"]);
    expect(new Set(records.map(({ renewTime }) => renewTime)).size).toBe(3);
  });

  it("is free only if both objects are", () => {
    const emptied = recordOf("", { leaseDurationSeconds: 15 });
    const free = [
      released,
      { ...released, renewTime: "u" },
      { ...released, leaseDurationSeconds: undefined },
    ];
    for (const from of [...free, emptied, foreign]) {
      for (const to of [...free, emptied, foreign]) {
        const record = combineRecords({ from, to }, isOwn);
        expect(isRelease(record)).toBe(free.includes(from) && free.includes(to));
      }
    }
  });

  it("is never a record that only one object contains, if the holder is our own and the terms differ", () => {
    for (const [from, to] of [
      [mine, ofOtherTerm],
      [ofOtherTerm, mine],
      [mine, { ...mine, leaseTransitions: 4 }],
    ] as const) {
      const { renewTime, acquireTime } = combineRecords({ from, to }, isOwn);
      expect(renewTime).toBe(`${from.renewTime}/${to.renewTime}`);
      expect(acquireTime).toBe(`${from.acquireTime}/${to.acquireTime}`);
    }
  });
});

describe("the record of the only object", () => {
  it.each<[string, LeaderRecord, Partial<LeaderRecord>]>([
    ["is another candidate's record, which may use only this object", foreign, foreign],
    ["is free", released, released],
    ["is nobody's if it has our own identity", mine, { holderIdentity: unknown, leaseDurationSeconds: 15 }],
  ])("%s", (_what, record, expected) => {
    expect(onlyRecord(record, isOwn)).toMatchObject(expected);
  });
});
