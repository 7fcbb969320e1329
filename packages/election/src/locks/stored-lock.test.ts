import type { LeaderRecord } from "@tenure/core";
import { describe, expect, it } from "vitest";
import { UnreadableRecord } from "./record-fields.ts";
import {
  readStoredLock,
  viewOfStored,
  withAcceptedTransfer,
  withAnnotations,
  withRecord,
} from "./stored-lock.ts";

const record: LeaderRecord = {
  holderIdentity: "a",
  leaseDurationSeconds: 15,
  acquireTime: "2030-01-01T00:00:00.000000Z",
  renewTime: "2030-01-01T00:00:01.000000Z",
  leaseTransitions: 3,
};

describe("a stored lock", () => {
  it("has a view with its record, its orders and everything that was read", () => {
    const stored = readStoredLock({ record, annotations: { "tenure.dev/paused": "true" }, theirs: 1 });
    expect(viewOfStored("u", 7n, stored)).toEqual({
      uid: "u",
      version: "7",
      revision: 7n,
      record,
      orders: { paused: true },
      object: stored,
    });
  });

  it("without a record or annotations is free, and without orders", () => {
    const view = viewOfStored("u", 7n, readStoredLock({}));
    expect(view.record).toMatchObject({ holderIdentity: "", leaseTransitions: 0 });
    expect(view).not.toHaveProperty("orders");
  });

  it("is complete when it is created", () => {
    expect(withRecord(undefined, record)).toEqual({ record, annotations: {} });
  });

  it("keeps everything that tenure did not write when the record changes", () => {
    const stored = readStoredLock({ record: { ...record, x: 1 }, annotations: { note: "keep" }, theirs: 1 });
    const changed = withRecord(viewOfStored("u", 7n, stored), { ...record, holderIdentity: "b" });
    expect(changed).toEqual({
      record: { ...record, holderIdentity: "b", x: 1 },
      annotations: { note: "keep" },
      theirs: 1,
    });
  });

  it("removes a field of the record that the new record does not have", () => {
    const before = viewOfStored("u", 7n, readStoredLock({ record, annotations: {} }));
    const changed = withRecord(before, { ...record, acquireTime: undefined });
    expect(JSON.parse(JSON.stringify(changed)).record).not.toHaveProperty("acquireTime");
  });

  it("accepts the transfer that is ordered, and none if none is ordered", () => {
    const asked = readStoredLock({ record, annotations: { note: "keep", "tenure.dev/transfer": "3/b" } });
    expect(withAcceptedTransfer(viewOfStored("u", 7n, asked))).toEqual({
      record,
      annotations: { note: "keep", "tenure.dev/transfer": "3/b", "tenure.dev/transfer-accepted": "3/b" },
    });
    expect(withAcceptedTransfer(viewOfStored("u", 7n, readStoredLock({ record })))).toBeUndefined();
  });

  it("changes and removes annotations, and nothing else", () => {
    const stored = readStoredLock({ record, annotations: { a: "1", b: "2", c: "3" }, theirs: 1 });
    expect(withAnnotations(viewOfStored("u", 7n, stored), { a: "4", b: null, d: null })).toEqual({
      record,
      annotations: { a: "4", c: "3" },
      theirs: 1,
    });
  });

  it("ignores annotations that are not texts, and keeps them", () => {
    const annotations = { "tenure.dev/paused": true, "tenure.dev/step-down": 3, n: 1 };
    const view = viewOfStored("u", 7n, readStoredLock({ record, annotations }));
    expect(view.orders).toBeUndefined();
    expect(withRecord(view, record).annotations).toEqual(annotations);
  });

  it.each([
    ["a text", "x", "the lock is not a JSON object"],
    ["a list", [], "the lock is not a JSON object"],
    ["a record that is a list", { record: [] }, "the record is not a JSON object"],
    ["annotations that are null", { record, annotations: null }, "the annotations are not a JSON object"],
  ])("rejects %s", (_, value, message) => {
    expect(() => readStoredLock(value)).toThrow(UnreadableRecord);
    expect(() => readStoredLock(value)).toThrow(message);
  });

  it("is shortened in the message if it is long", () => {
    const attempt = () => readStoredLock("x".repeat(10_000));
    expect(attempt).toThrow(/^the lock is not a JSON object: "x{79}$/);
  });
});
