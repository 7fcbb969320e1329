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
  it("neither: there is no lock", async () => {
    expect(await open().lock.read(signal)).toEqual({ kind: "absent" });
  });

  it.each<[string, LeaderRecord | undefined, LeaderRecord | undefined, Partial<LeaderRecord>]>([
    ["only from: its holder holds", recordOf("b"), undefined, recordOf("b")],
    ["only to: its holder holds", undefined, recordOf("b"), recordOf("b")],
    ["only from, released", released, undefined, released],
    [
      "both with one holder: what was written last counts",
      recordOf("b", { renewTime: "2" }),
      recordOf("b"),
      recordOf("b"),
    ],
    ["both released", released, released, released],
    ["two holders: nobody that can be named", recordOf("b"), recordOf("c"), { holderIdentity: unknown }],
    [
      "from released, to held",
      released,
      recordOf("b"),
      { holderIdentity: unknown, leaseDurationSeconds: 15 },
    ],
    [
      "from held, to released: half-way through a release",
      recordOf("b"),
      released,
      { holderIdentity: unknown, leaseDurationSeconds: 15 },
    ],
    [
      "two holders: the longer of their times",
      recordOf("b", { leaseDurationSeconds: 60 }),
      recordOf("c"),
      { leaseDurationSeconds: 60 },
    ],
    [
      "two holders, one without a time",
      recordOf("b", { leaseDurationSeconds: undefined }),
      recordOf("c"),
      { leaseDurationSeconds: undefined },
    ],
    [
      "two holders: the higher of their counts",
      recordOf("b", { leaseTransitions: 7 }),
      recordOf("c"),
      { leaseTransitions: 7 },
    ],
  ])("%s", async (_what, from, to, expected) => {
    const { record } = await view(open(from, to).lock);
    expect(record).toMatchObject(expected);
  });

  it("two holders: neither can take the record for its own", async () => {
    const { record } = await view(
      open(recordOf("b", { renewTime: "1" }), recordOf("c", { renewTime: "2" })).lock,
    );
    expect(record.renewTime).toBe("1/2");
    expect(record.acquireTime).toBe(`${recordOf("b").acquireTime}/${recordOf("c").acquireTime}`);
  });

  it("every change of either shows in the version, and the revision never falls, also when one is deleted", async () => {
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

  it("fails if one of the two does, whichever", async () => {
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

describe("write", () => {
  it("acquires and renews in the order from, to", async () => {
    const { lock, asked } = open();
    const { record } = found(await lock.write(mine, undefined, signal));
    expect(asked()).toEqual(["POST from", "POST to"]);
    expect(record).toEqual(mine);
    const later = { ...mine, renewTime: "later" };
    expect(found(await lock.write(later, await view(lock), signal)).record).toEqual(later);
    expect(asked()).toEqual(["GET from", "GET to", "PUT from", "PUT to"]);
  });

  it("releases in the order to, from", async () => {
    const { lock, asked } = open(mine, mine);
    const before = await view(lock);
    asked();
    expect(found(await lock.write(released, before, signal)).record).toEqual(released);
    expect(asked()).toEqual(["PUT to", "PUT from"]);
  });

  it("creates what is missing", async () => {
    const onlyFrom = open(released);
    const first = await view(onlyFrom.lock);
    onlyFrom.asked();
    expect(found(await onlyFrom.lock.write(mine, first, signal)).record).toEqual(mine);
    expect(onlyFrom.asked()).toEqual(["PUT from", "POST to"]);
    const onlyTo = open(undefined, released);
    const second = await view(onlyTo.lock);
    onlyTo.asked();
    expect(found(await onlyTo.lock.write(mine, second, signal)).record).toEqual(mine);
    expect(onlyTo.asked()).toEqual(["POST from", "PUT to"]);
  });

  it("stops at the first that is refused", async () => {
    const { lock, put, asked } = open(released, released);
    const before = await view(lock);
    put.from(recordOf("b"));
    asked();
    expect(await lock.write(mine, before, signal)).toEqual({ kind: "conflict" });
    expect(asked()).toEqual(["PUT from"]);
    expect((await view(lock)).record.holderIdentity).toBe(unknown);
  });

  it("is not a success if the second is refused", async () => {
    const { lock, put } = open(released, released);
    const before = await view(lock);
    put.to(recordOf("b"));
    expect(await lock.write(mine, before, signal)).toEqual({ kind: "conflict" });
    expect((await view(lock)).record.holderIdentity).toBe(unknown);
  });

  it.each([fromPath, toPath])(
    "over one that is gone is a conflict: what is left is to be read (%s)",
    async (path) => {
      for (const record of [mine, released]) {
        const { api, lock } = open(mine, mine);
        const before = await view(lock);
        api.delete(path);
        expect(await lock.write(record, before, signal)).toEqual({ kind: "conflict" });
      }
    },
  );

  it("that got only half-way is not taken for a whole one, by whoever wrote it", async () => {
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

  it("of which one half was deleted is not a whole one any more", async () => {
    for (const path of [fromPath, toPath]) {
      const { api, lock } = open();
      await lock.write(mine, undefined, signal);
      api.delete(path);
      expect((await view(lock)).record.holderIdentity).toBe(unknown);
    }
  });

  it("of somebody else's that got half-way shows that one: it may lead by the one lock that it knows", async () => {
    const { lock } = open(recordOf("b"));
    expect((await view(lock)).record.holderIdentity).toBe("b");
  });
});

it("passes the time limit of a request on to both locks", async () => {
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

describe("a read that comes late", () => {
  /** A read that was asked for before a write of both, and whose answer comes after that. */
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
    "and lacks %s does not say which is older: it is to be read again",
    async (missing) => {
      expect((await lateRead(missing)).answer).toEqual({ kind: "conflict" });
    },
  );

  it("and has both is older by its revision", async () => {
    const { answer, revision } = await lateRead(undefined);
    expect(found(answer).revision).toBeLessThan(revision);
  });
});
