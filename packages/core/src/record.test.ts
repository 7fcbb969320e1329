import { describe, expect, it } from "vitest";
import { acquireMicroTime, isRelease, microTime, nextTransitions, sameRecord } from "./record.ts";
import { record } from "./testing/records.ts";

describe("sameRecord", () => {
  it("is true for equal fields", () => expect(sameRecord(record(), record())).toBe(true));
  it.each([
    { holderIdentity: "c" },
    { leaseDurationSeconds: 16 },
    { leaseDurationSeconds: undefined },
    { acquireTime: "2030-01-01T00:00:00.000001Z" },
    { acquireTime: undefined },
    { renewTime: "2030-01-01T00:00:00.000001Z" },
    { renewTime: undefined },
    { leaseTransitions: 1 },
  ])("is false if one field differs: %j", (fields) => {
    expect(sameRecord(record(), record(fields))).toBe(false);
    expect(sameRecord(record(fields), record())).toBe(false);
  });
});

describe("isRelease", () => {
  it.each([
    ["true for an empty holder with duration 1, as client-go and tenure write it", "", 1, true],
    ["true for an empty holder with duration 0, as old versions of client-go write it", "", 0, true],
    ["true for an empty holder with no duration", "", undefined, true],
    ["false for an empty holder with the old duration, as after an edit by hand", "", 15, false],
    ["false for an empty holder with duration 2", "", 2, false],
    ["false for a holder with duration 1", "b", 1, false],
    ["false for a holder with no duration", "b", undefined, false],
  ])("%s", (_what, holderIdentity, leaseDurationSeconds, expected) => {
    expect(isRelease(record({ holderIdentity, leaseDurationSeconds }))).toBe(expected);
  });
});

describe("nextTransitions", () => {
  it.each([
    [0, 1],
    [41, 42],
    [2_147_483_646, 2_147_483_647],
    [2_147_483_647, 2_147_483_647],
  ])("counts from %d to %d, within an int32", (before, after) => expect(nextTransitions(before)).toBe(after));
});

describe("microTime", () => {
  const wallMs = Date.parse("2030-01-02T03:04:05.678Z");
  it.each([
    [0, "2030-01-02T03:04:05.678000Z"],
    [0.5, "2030-01-02T03:04:05.678500Z"],
    [0.0125, "2030-01-02T03:04:05.678012Z"],
    [0.999999, "2030-01-02T03:04:05.678999Z"],
  ])("is RFC 3339 with microseconds, the last three digits from the random number %d", (random, text) => {
    expect(microTime(wallMs, random)).toBe(text);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });
});

describe("acquireMicroTime", () => {
  it.each([
    [0.123456, "2030-01-02T03:04:05.678456Z"],
    [0.999001, "2030-01-02T03:04:05.678001Z"],
    [0.5, "2030-01-02T03:04:05.678000Z"],
  ])("has the digits of the random number %d that microTime leaves", (random, text) => {
    expect(acquireMicroTime(Date.parse("2030-01-02T03:04:05.678Z"), random + 1e-9)).toBe(text);
  });
});
