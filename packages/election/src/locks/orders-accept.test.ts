/** How each kind of lock stores that a candidate has accepted a transfer. */
import { KubeError } from "@tenure/kube";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Lock } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { found, fromPath, open, signal, toPath, view } from "../testing/migration-lock.ts";
import { ConfigMapLock, leaderAnnotation } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import { MigrationLock } from "./migration-lock.ts";
import { formatTransfer } from "./orders.ts";

const transfer = { transitions: 0, to: "b" };
const asked = { "tenure.dev/transfer": formatTransfer(transfer) };
const accepted = { ...asked, "tenure.dev/transfer-accepted": "0/b" };

describe("with one object", () => {
  const spec = { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "not even valid", strategy: "x" };
  async function openLease() {
    const api = new FakeApi();
    const metadata = { labels: { team: "x" }, annotations: { ...asked, "example.com/note": "keep" } };
    api.put(toPath, { metadata, spec });
    const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client, labels: { ours: "1" } });
    return { api, lock, before: found(await lock.read(signal)) };
  }

  it("adds one annotation and leaves everything else as it is, even a record that it would write otherwise", async () => {
    const { api, lock, before } = await openLease();
    const after = found(await lock.acceptTransfer(before, signal));
    expect(after.orders).toEqual({ transfer: { ...transfer, accepted: true } });
    expect(after.record).toEqual(before.record);
    expect(api.objects.get(toPath)).toMatchObject({
      metadata: { labels: { team: "x" }, annotations: { ...accepted, "example.com/note": "keep" } },
      spec,
    });
    expect(api.objects.get(toPath)?.metadata.labels).toEqual({ team: "x" });
  });

  it("conflicts with a renewal in between, and changes nothing", async () => {
    const { api, lock, before } = await openLease();
    api.put(toPath, { metadata: { annotations: asked }, spec: { ...spec, renewTime: "later" } });
    expect(await lock.acceptTransfer(before, signal)).toEqual({ kind: "conflict" });
    expect(api.objects.get(toPath)?.metadata.annotations).toEqual(asked);
  });
});

it("conflicts without a request if the order has been withdrawn", async () => {
  const api = new FakeApi();
  api.put(toPath, { metadata: {}, spec: { holderIdentity: "a" } });
  const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client });
  const before = found(await lock.read(signal));
  expect(await lock.acceptTransfer(before, signal)).toEqual({ kind: "conflict" });
  expect(api.requests.map(({ method }) => method)).toEqual(["GET"]);
});

describe("with the two objects of a migration", () => {
  const annotate = (api: FakeApi, path: string) => {
    const object = api.objects.get(path);
    api.put(path, {
      ...object,
      metadata: { ...object?.metadata, annotations: { ...object?.metadata.annotations, ...asked } },
    });
  };

  it.each([
    ["from", fromPath, "PUT from"],
    ["to", toPath, "PUT to"],
  ])(
    "accepts in %s if the order is there, and leaves both records as they are",
    async (_side, path, request) => {
      const { api, lock, newRequests } = open(recordOf("c"), recordOf("c", { renewTime: "2" }));
      annotate(api, path);
      const before = await view(lock);
      expect(before.orders).toEqual({ transfer });
      const records = () => [
        api.objects.get(fromPath)?.metadata.annotations?.[leaderAnnotation],
        api.objects.get(toPath)?.spec,
      ];
      const recordsBefore = records();
      newRequests();
      const after = found(await lock.acceptTransfer(before, signal));
      expect(newRequests()).toEqual([request]);
      expect(after).toMatchObject({ uid: before.uid, record: before.record });
      expect(after.orders).toEqual({ transfer: { ...transfer, accepted: true } });
      expect(after.revision).toBeGreaterThan(before.revision);
      expect(records()).toEqual(recordsBefore);
      expect((await view(lock)).version).toBe(after.version);
    },
  );

  it("accepts in the only object that exists", async () => {
    const { api, lock, newRequests } = open(recordOf("c"));
    annotate(api, fromPath);
    const before = await view(lock);
    newRequests();
    const after = found(await lock.acceptTransfer(before, signal));
    expect(after.orders).toEqual({ transfer: { ...transfer, accepted: true } });
    expect(newRequests()).toEqual(["PUT from"]);
  });

  it("conflicts if the lock with the order does not support transfers", async () => {
    const { api } = open(recordOf("c"), recordOf("c"));
    annotate(api, toPath);
    const options = { name: "lock", namespace: "ns", client: api.client };
    const lease = new LeaseLock(options);
    const to: Lock = {
      description: "a lock of another package",
      read: (...args) => lease.read(...args),
      write: (...args) => lease.write(...args),
    };
    const lock = new MigrationLock({ from: new ConfigMapLock(options), to });
    expect(await lock.acceptTransfer(await view(lock), signal)).toEqual({ kind: "conflict" });
  });

  it("conflicts if the object has changed, or if the candidate decided on an older view", async () => {
    const { api, lock, newRequests } = open(recordOf("c"), recordOf("c"));
    annotate(api, toPath);
    const before = await view(lock);
    annotate(api, toPath);
    expect(await lock.acceptTransfer(before, signal)).toEqual({ kind: "conflict" });
    await view(lock);
    newRequests();
    expect(await lock.acceptTransfer(before, signal)).toEqual({ kind: "conflict" });
    expect(newRequests()).toEqual([]);
  });

  it("reports why the order could not be accepted", async () => {
    const { api, lock } = open(recordOf("c"), recordOf("c"));
    annotate(api, toPath);
    const before = await view(lock);
    api.fail = () => new KubeError("Forbidden", "not allowed");
    expect(await lock.acceptTransfer(before, signal)).toMatchObject({
      kind: "failed",
      failure: { kind: "denied", message: "not allowed" },
    });
  });

  it("conflicts if the object is gone, so that the candidate reads both", async () => {
    const { api, lock } = open(recordOf("c"), recordOf("c"));
    annotate(api, toPath);
    const before = await view(lock);
    api.delete(toPath);
    expect(await lock.acceptTransfer(before, signal)).toEqual({ kind: "conflict" });
  });
});
