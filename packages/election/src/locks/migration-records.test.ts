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
  it.each<[string, LeaderRecord, LeaderRecord, "from" | "to", Partial<LeaderRecord>]>([
    ["the same record in both is that record", mine, mine, "to", mine],
    ["our renewal that reached only from has renewed nothing", renewed, mine, "from", mine],
    [
      "our acquisition that reached only from is nobody's record",
      mine,
      released,
      "from",
      { holderIdentity: unknown },
    ],
    [
      "our acquisition over our own older term is nobody's",
      ofOtherTerm,
      mine,
      "from",
      { holderIdentity: unknown },
    ],
    [
      "our acquisition over somebody else's record is nobody's",
      mine,
      foreign,
      "from",
      { holderIdentity: unknown },
    ],
    [
      "our release that reached only to is nobody's record",
      mine,
      released,
      "to",
      { holderIdentity: unknown },
    ],
    [
      "a renewal of another candidate counts from its first half",
      foreignRenewed,
      foreign,
      "from",
      foreignRenewed,
    ],
    [
      "the times of client-go have another precision in each object",
      foreign,
      foreignRenewed,
      "to",
      foreignRenewed,
    ],
    ["two releases are a release", released, { ...released, renewTime: "u" }, "to", { holderIdentity: "" }],
    [
      "an object without a record is free, and its missing duration does not shorten the wait",
      { ...released, leaseDurationSeconds: undefined },
      recordOf("b", { leaseDurationSeconds: 60 }),
      "to",
      { holderIdentity: unknown, leaseDurationSeconds: 60 },
    ],
  ])("%s", (_what, from, to, newest, expected) => {
    expect(combineRecords({ from, to, newest }, isOwn)).toMatchObject(expected);
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
        const record = combineRecords({ from, to, newest: "to" }, isOwn);
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
      const { renewTime, acquireTime } = combineRecords({ from, to, newest: "from" }, isOwn);
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
