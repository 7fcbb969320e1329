import { ElectionError, type Lock } from "@tenure/election";
import { describe, expect, it } from "vitest";
import { PostgresLock } from "./postgres-lock.ts";
import { type AnswerQuery, fakeServers } from "./testing/fake-session.ts";

const url = "postgres://worker:hidden@db/app";
const { signal } = new AbortController();
const record = {
  holderIdentity: "a",
  leaseDurationSeconds: 15,
  acquireTime: "2030-01-01T00:00:00.000000Z",
  renewTime: "2030-01-01T00:00:00.000000Z",
  leaseTransitions: 0,
};
const row = { replica: false, uid: "u", revision: "7", record, annotations: {} };
const view = { uid: "u", version: "7", revision: 7n, record, object: { record, annotations: {} } };

function newLock(answer: AnswerQuery): Lock {
  return new PostgresLock({ name: "x", url }, fakeServers({ [url]: answer }));
}

const sqlError = (code: string, message = "it failed") => Object.assign(new Error(message), { code });

it("reports all problems of its options at once, without the password", () => {
  const create = () => new PostgresLock({ name: "", url: "hidden", table: "A;B", listenUrl: "y" });
  expect(create).toThrow(ElectionError);
  expect(create).toThrow(/name must be .*url must be .*listenUrl must be .*table must be /);
  expect(new PostgresLock({ name: "x", url }).description).toBe("row x of tenure_locks in postgres db/app");
});

it("reads a row, and no row", async () => {
  expect(await newLock(() => [row]).read(signal)).toEqual({ kind: "found", view });
  const absent = { replica: false, uid: null, revision: null, record: null, annotations: null };
  expect(await newLock(() => [absent]).read(signal)).toEqual({ kind: "absent" });
});

it("does not believe a server that became a standby", async () => {
  const absent = { replica: true, uid: null };
  expect(await newLock(() => [absent]).read(signal)).toMatchObject({
    kind: "failed",
    failure: { kind: "server", message: expect.stringContaining("read-only") },
  });
});

it("reports a row that is not a lock as unreadable", async () => {
  expect(await newLock(() => [{ ...row, record: [] }]).read(signal)).toEqual({
    kind: "failed",
    failure: { kind: "unreadable", message: "the record is not a JSON object: []" },
  });
});

it.each(["40001", "40P01"])("a transaction that PostgreSQL rolled back (%s) is a conflict", async (code) => {
  expect(await newLock(() => sqlError(code)).write(record, view, signal)).toEqual({ kind: "conflict" });
});

it.each([
  ["28P01", "denied"],
  ["42501", "denied"],
  ["53300", "throttled"],
  ["57P01", "unreachable"],
  ["08006", "unreachable"],
  ["ECONNRESET", "unreachable"],
  ["EPIPE", "unreachable"],
  ["XX000", "server"],
])("an error %s is of the kind %s", async (code, kind) => {
  const answer = await newLock(() => sqlError(code)).read(signal);
  expect(answer).toMatchObject({ kind: "failed", failure: { kind } });
  expect(JSON.stringify(answer)).not.toContain("hidden");
});

describe("a write whose answer is lost", () => {
  it("makes the next read wait until what it sees is safe, and only the next", async () => {
    const queries: string[] = [];
    let isLost = true;
    const lock = newLock((text) => {
      queries.push(text);
      return text.startsWith("UPDATE") && isLost ? sqlError("ECONNRESET") : [row];
    });
    const last = () => queries.at(-1) as string;
    await lock.read(signal);
    expect(last()).not.toContain("pg_logical_emit_message");
    await lock.write(record, view, signal);
    await lock.read(signal);
    expect(last()).toContain("pg_logical_emit_message");
    await lock.read(signal);
    expect(last()).not.toContain("pg_logical_emit_message");
    await lock.write(record, view, signal);
    isLost = false;
    await lock.write(record, view, signal);
    await lock.read(signal);
    expect(last()).not.toContain("pg_logical_emit_message");
  });

  it("stays unknown if the next write finds that the row has changed", async () => {
    const queries: string[] = [];
    let answer: ReturnType<AnswerQuery> = sqlError("ECONNRESET");
    const lock = newLock((text) => {
      queries.push(text);
      return text.startsWith("UPDATE") ? answer : [row];
    });
    await lock.write(record, view, signal);
    answer = [];
    expect(await lock.write({ ...record, renewTime: "later" }, view, signal)).toEqual({ kind: "conflict" });
    await lock.read(signal);
    expect(queries.at(-1)).toContain("pg_logical_emit_message");
  });
});
