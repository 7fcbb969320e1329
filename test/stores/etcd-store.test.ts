/** The sandbox's store in a real etcd: several servers, one truth. */
import { openEtcdStore, type Store } from "@tenure/sandbox";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { eventually } from "../conformance/locks-target.ts";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";

let cluster: EtcdCluster;
let opened: Store[] = [];
let count = 0;

beforeAll(async () => {
  cluster = await startEtcd({ members: 3 });
});
afterAll(() => cluster?.stop());
afterEach(async () => {
  await Promise.all(opened.map((store) => store.close()));
  opened = [];
});

async function open(endpoints = cluster.endpoints): Promise<Store> {
  const store = await openEtcdStore({ endpoints });
  opened.push(store);
  return store;
}

const newKey = () => `/registry/things/default/thing-${++count}`;
const thing = (value: number) => ({ kind: "Thing", apiVersion: "v1", metadata: { name: "x" }, value });
const numberIn = (store: Store, key: string) => Number(store.get(key)?.value.value ?? 0);
const succeeded = () => true;
const failed = () => false;
const increment = (store: Store, key: string) =>
  store.commit(key, (current) => thing(Number(current?.value.value ?? 0) + 1));

/** The values and revisions that a watch of this key reports. */
function record(store: Store, key: string) {
  const seen: { revision: number; value: unknown; type: string }[] = [];
  store.watch(key, store.revision, ({ type, revision, object }) =>
    seen.push({ type, revision, value: object.value.value }),
  );
  return seen;
}

it("commits of two servers to one key are serialised, and both see every change once and in order", async () => {
  const [a, b] = [await open(), await open()];
  const key = newKey();
  const logs = [record(a, key), record(b, key)];
  await Promise.all(
    [a, b].flatMap((store) =>
      Array.from({ length: 4 }, async () => {
        for (let round = 0; round < 10; round++) await increment(store, key);
      }),
    ),
  );
  await Promise.all([a.caughtUp(), b.caughtUp()]);
  expect([numberIn(a, key), numberIn(b, key)]).toEqual([80, 80]);
  for (const log of logs) {
    expect(log.map(({ value }) => value)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    expect(
      log.every(({ revision }, index) => index === 0 || revision > (log[index - 1]?.revision ?? 0)),
    ).toBe(true);
  }
  expect(logs[0]).toEqual(logs[1]);
});

it("a server reads its own write at once, and another one after it caught up", async () => {
  const [a, b] = [await open(), await open()];
  for (let round = 0; round < 20; round++) {
    const key = newKey();
    const written = await a.commit(key, () => thing(round));
    expect(a.get(key)).toEqual(written);
    expect(written?.value.metadata.resourceVersion).toBe(String(written?.revision));
    await b.caughtUp();
    expect(b.get(key)).toEqual(written);
  }
});

it("a decision to fail or to change nothing rests on the present state", async () => {
  const [a, b] = [await open(), await open()];
  const key = newKey();
  await increment(a, key);
  await b.caughtUp();
  for (let round = 1; round < 20; round++) {
    const { revision = 0 } = (await increment(a, key)) ?? {};
    // What an update with the newest resourceVersion does, through a server that may not know it yet.
    const updated = await b.commit(key, (current) => {
      if (current?.revision !== revision) throw new Error("conflict");
      return thing(Number(current.value.value));
    });
    expect(updated?.revision).toBeGreaterThan(revision);
    await a.commit(key, () => "delete");
    expect(await b.commit(key, () => undefined)).toBeUndefined();
    await increment(a, key);
  }
});

it("deletions have a revision of their own", async () => {
  const [a, b] = [await open(), await open()];
  const key = newKey();
  const log = record(b, key);
  const created = await increment(a, key);
  const deleted = await a.commit(key, () => "delete");
  await b.caughtUp();
  expect(log.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
  expect(log[1]?.revision).toBe(deleted?.revision);
  expect(deleted?.revision).toBeGreaterThan(created?.revision ?? 0);
  expect(b.get(key)).toBeUndefined();
});

it("no acknowledged write is lost while members crash and freeze, and watches miss nothing", async () => {
  const [a, b] = [await open(), await open([...cluster.endpoints].reverse())];
  const key = newKey();
  const log = record(b, key);
  let acknowledged = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await increment(a, key).then(
        (stored) => {
          acknowledged = Number(stored?.value.value);
        },
        () => {},
      );
    }
  })();
  for (const member of cluster.members) {
    let before = acknowledged;
    await member.stop("SIGKILL");
    await eventually(() => acknowledged > before, "writes go on without a member");
    await member.start();
    before = acknowledged;
    process.kill(member.pid(), "SIGSTOP");
    try {
      await eventually(() => acknowledged > before, "writes go on with a frozen member");
    } finally {
      process.kill(member.pid(), "SIGCONT");
    }
  }
  isOver = true;
  await writing;
  await eventually(
    () =>
      b.caughtUp().then(
        () => true,
        () => false,
      ),
    "the other server catches up",
  );
  expect(numberIn(b, key)).toBeGreaterThanOrEqual(acknowledged);
  // Every value in order. A write whose answer was lost is there too.
  expect(log.map(({ value }) => value)).toEqual(log.map((_, index) => index + 1));
  expect(log.length).toBe(numberIn(b, key));
});

it("a server that was away for longer than the history of etcd catches up, and its old watches have to list again", async () => {
  const [first, ...others] = cluster.members;
  const lonely = await open([first?.url ?? ""]);
  const writer = await open(others.map(({ url }) => url));
  const [kept, removed] = [newKey(), newKey()];
  await increment(writer, kept);
  await increment(writer, removed);
  await lonely.caughtUp();
  const before = lonely.revision;
  await first?.stop("SIGKILL");
  // A request in flight fails if its member was the leader.
  await eventually(() => writer.commit(kept, () => thing(2)).then(succeeded, failed), "a write succeeds");
  await eventually(
    () => writer.commit(removed, () => "delete").then(succeeded, failed),
    "a deletion succeeds",
  );
  const response = await fetch(`${others[0]?.url}/v3/kv/compaction`, {
    method: "POST",
    body: JSON.stringify({ revision: String(writer.revision), physical: true }),
  });
  expect(response.ok).toBe(true);
  await first?.start();
  await eventually(() => lonely.get(removed) === undefined, "the deletion is known");
  await eventually(() => numberIn(lonely, kept) === 2, "the change is known");
  expect(lonely.watch(kept, before, () => {})).toBeUndefined();
  const log = record(lonely, kept);
  await writer.commit(kept, () => thing(3));
  await eventually(() => log.length === 1, "the watch goes on");
});

it("without a majority, reads and writes fail clearly and in time, and go on afterwards", async () => {
  const store = await open();
  const key = newKey();
  await increment(store, key);
  const others = cluster.members.slice(1);
  await Promise.all(others.map((member) => member.stop("SIGKILL")));
  const startMs = performance.now();
  await expect(increment(store, key)).rejects.toThrow("etcd does not answer: ");
  await expect(store.caughtUp()).rejects.toThrow("etcd does not answer: ");
  expect(performance.now() - startMs).toBeLessThan(25_000);
  expect(await store.problem()).toContain("etcd does not answer: ");
  await Promise.all(others.map((member) => member.start()));
  await eventually(() => store.problem().then((problem) => problem === undefined), "etcd answers");
  await increment(store, key);
});

it("events are deleted by a lease of etcd, other objects are not", async () => {
  const [a, b] = [await open(), await open()];
  const leaseOf = async (key: string) => {
    const { kvs } = await cluster.call("/v3/kv/range", { key: Buffer.from(key).toString("base64") });
    return (kvs as { lease?: string }[])[0]?.lease;
  };
  const [event, other] = [`/registry/events/default/event-${++count}`, newKey()];
  for (const key of [event, other]) await increment(a, key);
  const lease = await leaseOf(event);
  expect(lease).toMatch(/^\d+$/);
  expect(await leaseOf(other)).toBeUndefined();
  const { grantedTTL } = await cluster.call("/v3/lease/timetolive", { ID: lease });
  expect(Number(grantedTTL)).toBeGreaterThanOrEqual(3_600);
  await b.caughtUp();
  expect([event, other].map((key) => numberIn(b, key))).toEqual([1, 1]);
  // The end of the lease, without waiting for it.
  await cluster.call("/v3/lease/revoke", { ID: lease });
  await eventually(() => a.get(event) === undefined && b.get(event) === undefined, "both forget the event");
  expect(numberIn(b, other)).toBe(1);
});
