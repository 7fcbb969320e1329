import { settle } from "@tenure/base/virtual-clock";
import type { LeaderRecord } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { fromPath, mine, open, released, signal, toPath, view } from "../testing/migration-lock.ts";
import { ConfigMapLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import { MigrationLock } from "./migration-lock.ts";

describe("watch", () => {
  function watching(from?: LeaderRecord, to?: LeaderRecord) {
    const opened = open(from, to);
    const calls: unknown[] = [];
    const observer: LockObserver = {
      observed: () => calls.push("observed"),
      deleted: () => calls.push("deleted"),
      changed: () => calls.push("changed"),
      up: () => calls.push("up"),
      down: (failure) => calls.push(["down", failure?.message]),
    };
    const newCalls = async () => {
      await settle();
      return calls.splice(0);
    };
    return { ...opened, observer, newCalls };
  }

  it("ignores versions that this lock wrote or read", async () => {
    const { api, lock, observer, put, newCalls } = watching(released, released);
    api.isLive = false;
    lock.watch(observer, signal);
    const echo = () => {
      for (const [path, object] of api.objects) {
        const watch = api.watches.find((candidate) => path.startsWith(candidate.path));
        watch?.onEvent({ type: "MODIFIED", object });
      }
    };
    const before = await view(lock);
    echo();
    expect(await newCalls()).toEqual([]);
    await lock.write(mine, before, signal);
    echo();
    expect(await newCalls()).toEqual([]);
    put.to(mine);
    echo();
    expect(await newCalls()).toEqual(["changed"]);
  });

  it("ignores its own record during a write, and reports the same record otherwise", async () => {
    const { lock, observer, put, newCalls } = watching(released, released);
    lock.watch(observer, signal);
    await newCalls();
    await lock.write(mine, await view(lock), signal);
    expect(await newCalls()).toEqual([]);
    put.from(mine);
    expect(await newCalls()).toEqual(["changed"]);
  });

  it("asks for a read after any other change of either object", async () => {
    const { api, lock, observer, put, newCalls } = watching(released, released);
    lock.watch(observer, signal);
    await view(lock);
    await newCalls();
    for (const change of [
      () => put.from(recordOf("b")),
      () => put.to(recordOf("b")),
      () => api.put(toPath, { metadata: {}, spec: { holderIdentity: 7 } }),
      () => api.delete(fromPath),
      () => api.delete(toPath),
    ]) {
      change();
      expect(await newCalls()).toEqual(["changed"]);
    }
  });

  it("is up while both watches are up", async () => {
    const { api, lock, observer, newCalls } = watching();
    api.isLive = false;
    lock.watch(observer, signal);
    const [from, to] = api.watches;
    const trouble = new KubeError("Unreachable", "gone");
    from?.onUp({ resumed: false });
    expect(await newCalls()).toEqual([]);
    to?.onUp({ resumed: false });
    expect(await newCalls()).toEqual(["up"]);
    from?.onDown(trouble);
    to?.onDown(trouble);
    expect(await newCalls()).toEqual([
      ["down", "gone"],
      ["down", "gone"],
    ]);
    from?.onUp({ resumed: true });
    expect(await newCalls()).toEqual([]);
    to?.onUp({ resumed: true });
    expect(await newCalls()).toEqual(["up"]);
  });

  it("is up when both watches are up, in either order", async () => {
    const { api, lock, observer, newCalls } = watching();
    api.isLive = false;
    lock.watch(observer, signal);
    api.watches[1]?.onUp({ resumed: false });
    expect(await newCalls()).toEqual([]);
    api.watches[0]?.onUp({ resumed: false });
    expect(await newCalls()).toEqual(["up"]);
  });
});

describe("a migration lock", () => {
  const mute = {
    description: "x",
    read: async () => ({ kind: "absent" }) as const,
    write: async () => ({ kind: "absent" }) as const,
  };

  it("is rejected if one of the two is not a lock, with the name of that one", () => {
    expect(() => new MigrationLock({ to: mute } as never)).toThrow(
      "Cannot use two locks as one: from must be a lock.",
    );
    expect(() => new MigrationLock({ from: mute, to: {} } as never)).toThrow(
      "Cannot use two locks as one: to must be a lock.",
    );
  });

  it("describes and prepares both locks, and announces on the new one", async () => {
    const { api, lock } = open(mine, mine);
    expect(lock.description).toBe("configmap ns/lock and lease ns/lock");
    await lock.prepare();
    await lock.announce("me became leader", await view(lock), signal);
    const event = api.requests.at(-1)?.body as { involvedObject: object };
    expect(event.involvedObject).toMatchObject({ kind: "Lease", name: "lock" });
    const { uid } = api.objects.get(toPath)?.metadata ?? {};
    expect(event.involvedObject).toMatchObject({ uid });
  });

  it("is rejected if the objects are on different API servers", async () => {
    const options = { name: "lock", namespace: "ns" };
    const [here, there] = [new FakeApi(), new FakeApi()];
    there.addressOfConfig = "https://other.example:6443";
    const from = new ConfigMapLock({ ...options, client: here.client });
    const lock = new MigrationLock({ from, to: new LeaseLock({ ...options, client: there.client }) });
    await expect(lock.prepare()).rejects.toMatchObject({
      code: "InvalidOptions",
      message:
        "Cannot use configmap ns/lock and lease ns/lock as one lock: to must be on the same API server as from " +
        "(https://cluster.example:6443), but is https://other.example:6443; use one cluster for both, because changes in " +
        "two clusters have no order.",
    });
    const sameServer = new LeaseLock({ ...options, client: new FakeApi().client });
    await expect(new MigrationLock({ from, to: sameServer }).prepare()).resolves.toBeUndefined();
  });

  it.each(["from", "to"] as const)("does not compare the API servers if %s has none", async (side) => {
    const onServer = { ...mute, serverAddress: async () => "https://cluster.example:6443" };
    const locks = { from: onServer, to: onServer, [side]: mute };
    await expect(new MigrationLock(locks).prepare()).resolves.toBeUndefined();
  });

  it("works with locks that have no optional methods", async () => {
    const prepared: string[] = [];
    const lock = new MigrationLock({
      from: { ...mute, prepare: async () => void prepared.push("from") },
      to: { ...mute, prepare: async () => void prepared.push("to") },
    });
    await lock.prepare();
    expect(prepared).toEqual(["from", "to"]);
    await expect(new MigrationLock({ from: mute, to: mute }).prepare()).resolves.toBeUndefined();
    await expect(lock.announce("x", undefined, signal)).resolves.toBeUndefined();
    lock.watch({} as LockObserver, signal);
    expect(lock.spec).toBeUndefined();
  });
});
