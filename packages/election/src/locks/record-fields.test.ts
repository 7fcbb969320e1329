import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRecord, UnreadableRecord } from "./record-fields.ts";

const nothing = {
  holderIdentity: "",
  leaseDurationSeconds: undefined,
  acquireTime: undefined,
  renewTime: undefined,
  leaseTransitions: 0,
};

describe("readRecord", () => {
  it("reads a complete record", () => {
    const raw = {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2030-01-01T00:00:00.123456Z",
      renewTime: "2030-01-01T00:00:01.123456Z",
      transitions: 7,
    };
    const { transitions, ...rest } = raw;
    expect(readRecord(raw)).toEqual({ ...rest, leaseTransitions: transitions });
  });

  it("reads an empty record as held by nobody", () => {
    expect(readRecord({})).toEqual(nothing);
  });

  it.each([[null], [undefined]])("reads a holder of %s as nobody", (holderIdentity) => {
    expect(readRecord({ holderIdentity })).toEqual(nothing);
  });

  it.each([[7], [true], [{}], [["a"]]])("rejects the holder %j", (holderIdentity) => {
    expect(() => readRecord({ holderIdentity })).toThrow(UnreadableRecord);
    expect(() => readRecord({ holderIdentity })).toThrow(
      expect.objectContaining({ name: "UnreadableRecord" }),
    );
    expect(() => readRecord({ holderIdentity })).toThrow(
      `holderIdentity is not a string: ${JSON.stringify(holderIdentity)}`,
    );
  });

  it.each<[unknown, number | undefined]>([
    [1, 1],
    [2_147_483_647, 2_147_483_647],
    [0, undefined],
    [-1, undefined],
    [2_147_483_648, undefined],
    [1e300, undefined],
    [1.5, undefined],
    [Number.NaN, undefined],
    ["15", undefined],
    [null, undefined],
    [{}, undefined],
  ])("reads the duration %j as %j", (leaseDurationSeconds, expected) => {
    expect(readRecord({ leaseDurationSeconds }).leaseDurationSeconds).toBe(expected);
  });

  it.each<[unknown, number]>([
    [0, 0],
    [3, 3],
    [2_147_483_647, 2_147_483_647],
    [-1, 0],
    [2_147_483_648, 0],
    [0.5, 0],
    ["3", 0],
    [null, 0],
  ])("reads transitions of %j as %j", (transitions, expected) => {
    expect(readRecord({ transitions }).leaseTransitions).toBe(expected);
  });

  it.each<[unknown, string | undefined]>([
    ["yesterday", "yesterday"],
    ["", ""],
    [1_700_000_000, undefined],
    [null, undefined],
  ])("keeps the time %j without interpreting it, or drops it", (time, expected) => {
    expect(readRecord({ acquireTime: time, renewTime: time })).toMatchObject({
      acquireTime: expected,
      renewTime: expected,
    });
  });

  it("returns a usable record or throws UnreadableRecord for any input", () => {
    const raw = fc.record(
      {
        holderIdentity: fc.anything(),
        leaseDurationSeconds: fc.anything(),
        acquireTime: fc.anything(),
        renewTime: fc.anything(),
        transitions: fc.anything(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(raw, (fields) => {
        let record: ReturnType<typeof readRecord>;
        try {
          record = readRecord(fields);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableRecord);
          return;
        }
        expect(typeof record.holderIdentity).toBe("string");
        expect(record.leaseDurationSeconds ?? 1).toBeGreaterThanOrEqual(1);
        expect(Number.isInteger(record.leaseTransitions)).toBe(true);
        expect(record.leaseTransitions).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
