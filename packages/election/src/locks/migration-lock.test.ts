import type { LeaderRecord } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Lock } from "../lock.ts";
import {
  found,
  fromPath,
  mine,
  open,
  released,
  signal,
  toPath,
  unknown,
  view,
} from "../testing/migration-lock.ts";
import { ConfigMapLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import { MigrationLock } from "./migration-lock.ts";

describe("read", () => {
  it("neither object: the lock is absent", async () => {
    expect(await open().lock.read(signal)).toEqual({ kind: "absent" });
  });

  it.each<[string, LeaderRecord | undefined, LeaderRecord | undefined, Partial<LeaderRecord>]>([
    ["only from: its holder", recordOf("b"), undefined, recordOf("b")],
    ["only to: its holder", undefined, recordOf("b"), recordOf("b")],
    ["only from, released", released, undefined, released],
    [
      "both with one holder, renewed in one of them",
      recordOf("b", { renewTime: "2" }),
      recordOf("b"),
      { holderIdentity: "b", leaseDurationSeconds: 15 },
    ],
    ["both released", released, released, released],
    ["two holders: unknown", recordOf("b"), recordOf("c"), { holderIdentity: unknown }],
    [
      "from released, to held",
      released,
      recordOf("b"),
      { holderIdentity: unknown, leaseDurationSeconds: 15 },
    ],
    [
      "from held, to released: an incomplete release",
      recordOf("b"),
      released,
      { holderIdentity: unknown, leaseDurationSeconds: 15 },
    ],
    [
      "two holders: the longer duration",
      recordOf("b", { leaseDurationSeconds: 60 }),
      recordOf("c"),
      { leaseDurationSeconds: 60 },
    ],
    [
      "two holders, one without a duration",
      recordOf("b", { leaseDurationSeconds: undefined }),
      recordOf("c"),
      { leaseDurationSeconds: undefined },
    ],
    [
      "to held, from without a record: the duration of the holder",
      recordOf("", { leaseDurationSeconds: undefined }),
      recordOf("b", { leaseDurationSeconds: 60 }),
      { leaseDurationSeconds: 60 },
    ],
    [
      "from emptied by hand, to released: not free, because the true holder may not know it yet",
      recordOf("", { leaseDurationSeconds: 15 }),
      released,
      { holderIdentity: "", leaseDurationSeconds: 15 },
    ],
    [
      "two holders: the higher number of transitions",
      recordOf("b", { leaseTransitions: 7 }),
      recordOf("c"),
      { leaseTransitions: 7 },
    ],
  ])("%s", async (_what, from, to, expected) => {
    const { record } = await view(open(from, to).lock);
    expect(record).toMatchObject(expected);
  });

  it("two holders: neither can recognise the record as its own", async () => {
    const { record } = await view(
      open(recordOf("b", { renewTime: "1" }), recordOf("c", { renewTime: "2" })).lock,
    );
    expect(record.renewTime).toBe("1/2");
    expect(record.acquireTime).toBe(`${recordOf("b").acquireTime}/${recordOf("c").acquireTime}`);
  });

  it("another candidate's renewal changes the record in each object that it reaches", async () => {
    const { lock, put } = open(recordOf("b"), recordOf("b"));
    const renewed = recordOf("b", { renewTime: "2030-01-01T00:00:03.000001Z" });
    const records = [(await view(lock)).record];
    put.from(renewed);
    records.push((await view(lock)).record);
    put.to(renewed);
    records.push((await view(lock)).record);
    expect(new Set(records.map(({ renewTime }) => renewTime)).size).toBe(3);
  });

  it("has a new version after each change of either object, and a revision that never falls", async () => {
    const { api, lock, put } = open(recordOf("b"), recordOf("b"));
    const views = [await view(lock)];
    for (const change of [
      () => put.from(recordOf("b")),
      () => put.to(recordOf("b")),
      () => api.delete(toPath),
      () => put.from(recordOf("b")),
      () => put.to(recordOf("b")),
      () => api.delete(fromPath),
      () => put.to(recordOf("c")),
    ]) {
      change();
      views.push(await view(lock));
    }
    expect(new Set(views.map(({ version }) => version)).size).toBe(views.length);
    for (const [index, { revision }] of views.entries()) {
      expect(revision).toBeGreaterThanOrEqual(views[index - 1]?.revision ?? 0n);
    }
  });

  it("fails if the read of either object fails", async () => {
    for (const which of ["configmaps", "leases"]) {
      const { api, lock } = open(recordOf("b"), recordOf("b"));
      api.fail = ({ path }) => (path.includes(which) ? new KubeError("Forbidden", which) : undefined);
      expect(await lock.read(signal)).toEqual({
        kind: "failed",
        failure: { kind: "denied", message: which },
      });
    }
  });
});

it("a read that conflicts in one lock conflicts, because that lock may be held", async () => {
  const conflict = { kind: "conflict" } as const;
  const unsure: Lock = { description: "x", read: async () => conflict, write: async () => conflict };
  const { lock: quiet } = open();
  for (const locks of [
    { from: unsure, to: quiet },
    { from: quiet, to: unsure },
  ]) {
    expect(await new MigrationLock(locks).read(signal)).toEqual(conflict);
  }
});

describe("write", () => {
  it("acquires and renews in the order from, to", async () => {
    const { lock, newRequests } = open();
    const { record } = found(await lock.write(mine, undefined, signal));
    expect(newRequests()).toEqual(["POST from", "POST to"]);
    expect(record).toEqual(mine);
    const later = { ...mine, renewTime: "later" };
    expect(found(await lock.write(later, await view(lock), signal)).record).toEqual(later);
    expect(newRequests()).toEqual(["GET from", "GET to", "PUT from", "PUT to"]);
  });

  it("releases in the order to, from", async () => {
    const { lock, newRequests } = open(mine, mine);
    const before = await view(lock);
    newRequests();
    expect(found(await lock.write(released, before, signal)).record).toEqual(released);
    expect(newRequests()).toEqual(["PUT to", "PUT from"]);
  });

  it("creates a missing object", async () => {
    const onlyFrom = open(released);
    const first = await view(onlyFrom.lock);
    onlyFrom.newRequests();
    expect(found(await onlyFrom.lock.write(mine, first, signal)).record).toEqual(mine);
    expect(onlyFrom.newRequests()).toEqual(["PUT from", "POST to"]);
    const onlyTo = open(undefined, released);
    const second = await view(onlyTo.lock);
    onlyTo.newRequests();
    expect(found(await onlyTo.lock.write(mine, second, signal)).record).toEqual(mine);
    expect(onlyTo.newRequests()).toEqual(["POST from", "PUT to"]);
  });

  it("stops after a conflict with the first object", async () => {
    const { lock, put, newRequests } = open(released, released);
    const before = await view(lock);
    put.from(recordOf("b"));
    newRequests();
    expect(await lock.write(mine, before, signal)).toEqual({ kind: "conflict" });
    expect(newRequests()).toEqual(["PUT from"]);
    expect((await view(lock)).record.holderIdentity).toBe(unknown);
  });

  it("does not succeed after a conflict with the second object", async () => {
    const { lock, put } = open(released, released);
    const before = await view(lock);
    put.to(recordOf("b"));
    expect(await lock.write(mine, before, signal)).toEqual({ kind: "conflict" });
    expect((await view(lock)).record.holderIdentity).toBe(unknown);
  });

  it.each([fromPath, toPath])("is a conflict if one object was deleted (%s)", async (path) => {
    for (const record of [mine, released]) {
      const { api, lock } = open(mine, mine);
      const before = await view(lock);
      api.delete(path);
      expect(await lock.write(record, before, signal)).toEqual({ kind: "conflict" });
    }
  });

  it("that is incomplete has an unknown holder, even for its writer", async () => {
    const { api, lock } = open(released);
    const before = await view(lock);
    api.fail = ({ method, path }) =>
      method === "POST" && path.includes("leases")
        ? new KubeError("Forbidden", "may not create leases")
        : undefined;
    expect(await lock.write(mine, before, signal)).toMatchObject({ kind: "failed" });
    const { record } = await view(lock);
    expect(record.holderIdentity).toBe(unknown);
    expect(record.renewTime).not.toBe(mine.renewTime);
  });

  it("that makes a holder our own changes the version, because the same version has the same record", async () => {
    const { api, lock } = open(mine);
    const before = await view(lock);
    expect(before.record).toEqual(mine);
    api.fail = ({ method }) => (method === "GET" ? undefined : new KubeError("Unreachable", "x"));
    await lock.write(mine, before, signal);
    const after = await view(lock);
    expect(after.record.holderIdentity).toBe(unknown);
    expect(after.version).not.toBe(before.version);
  });

  it("has an unknown holder after one object was deleted", async () => {
    for (const path of [fromPath, toPath]) {
      const { api, lock } = open();
      await lock.write(mine, undefined, signal);
      api.delete(path);
      expect((await view(lock)).record.holderIdentity).toBe(unknown);
    }
  });

  it("of another candidate to one object shows that candidate, which may use only that lock", async () => {
    const { lock } = open(recordOf("b"));
    expect((await view(lock)).record.holderIdentity).toBe("b");
  });
});

it("passes the time limit to both locks", async () => {
  const { api, lock } = open(released, released);
  const before = found(await lock.read(signal, 20_000));
  await lock.write(mine, before, signal, 20_000);
  await lock.write(released, await view(lock), signal, 30_000);
  const limits = api.requests.map(({ method, timeoutMs }) => `${method} ${timeoutMs}`);
  expect(limits).toEqual([
    ...Array(2).fill("GET 21000"),
    ...Array(2).fill("PUT 21000"),
    ...Array(2).fill("GET undefined"),
    ...Array(2).fill("PUT 31000"),
  ]);
});

describe("a late read", () => {
  /** A read that starts before a write and is answered after it. */
  async function lateRead(missing: "from" | "to" | undefined) {
    const { api, lock } = open(released, released);
    const options = { name: "lock", namespace: "ns", client: api.client };
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = (which: "from" | "to", quick: Lock): Lock => ({
      description: which,
      write: (...args) => quick.write(...args),
      read: async (until) => {
        const answer = await quick.read(until);
        await held;
        return which === missing ? { kind: "absent" } : answer;
      },
    });
    const migration = new MigrationLock({
      from: slow("from", new ConfigMapLock(options)),
      to: slow("to", new LeaseLock(options)),
    });
    const late = migration.read(signal);
    const { revision } = found(await migration.write(mine, await view(lock), signal));
    release();
    return { answer: await late, revision };
  }

  it.each(["from", "to"] as const)(
    "without %s is a conflict, because its age is unknown",
    async (missing) => {
      expect((await lateRead(missing)).answer).toEqual({ kind: "conflict" });
    },
  );

  it("with both objects is older by its revision", async () => {
    const { answer, revision } = await lateRead(undefined);
    expect(found(answer).revision).toBeLessThan(revision);
  });
});
