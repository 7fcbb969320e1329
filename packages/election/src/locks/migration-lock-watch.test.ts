import { settle } from "@tenure/base/virtual-clock";
import type { LeaderRecord } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { fromPath, mine, open, released, signal, toPath, view } from "../testing/migration-lock.ts";
import { MigrationLock } from "./migration-lock.ts";

describe("watch", () => {
  function watching(from?: LeaderRecord, to?: LeaderRecord) {
    const opened = open(from, to);
    const told: unknown[] = [];
    const observer: LockObserver = {
      observed: () => told.push("observed"),
      deleted: () => told.push("deleted"),
      changed: () => told.push("changed"),
      up: () => told.push("up"),
      down: (failure) => told.push(["down", failure?.message]),
    };
    const heard = async () => {
      await settle();
      return told.splice(0);
    };
    return { ...opened, observer, heard };
  }

  it("the echo of an own write, and of what was read, is no news", async () => {
    const { api, lock, observer, put, heard } = watching(released, released);
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
    expect(await heard()).toEqual([]);
    await lock.write(mine, before, signal);
    echo();
    expect(await heard()).toEqual([]);
    put.to(mine);
    echo();
    expect(await heard()).toEqual(["changed"]);
  });

  it("an echo that is faster than the answer is no news either, and the same record is when nothing is being written", async () => {
    const { lock, observer, put, heard } = watching(released, released);
    lock.watch(observer, signal);
    await heard();
    await lock.write(mine, await view(lock), signal);
    expect(await heard()).toEqual([]);
    put.from(mine);
    expect(await heard()).toEqual(["changed"]);
  });

  it("whatever else happens to either is to be read", async () => {
    const { api, lock, observer, put, heard } = watching(released, released);
    lock.watch(observer, signal);
    await view(lock);
    await heard();
    for (const change of [
      () => put.from(recordOf("b")),
      () => put.to(recordOf("b")),
      () => api.put(toPath, { metadata: {}, spec: { holderIdentity: 7 } }),
      () => api.delete(fromPath),
      () => api.delete(toPath),
    ]) {
      change();
      expect(await heard()).toEqual(["changed"]);
    }
  });

  it("is up when both are, and down when one is", async () => {
    const { api, lock, observer, heard } = watching();
    api.isLive = false;
    lock.watch(observer, signal);
    const [from, to] = api.watches;
    const trouble = new KubeError("Unreachable", "gone");
    from?.onUp({ resumed: false });
    expect(await heard()).toEqual([]);
    to?.onUp({ resumed: false });
    expect(await heard()).toEqual(["up"]);
    from?.onDown(trouble);
    to?.onDown(trouble);
    expect(await heard()).toEqual([
      ["down", "gone"],
      ["down", "gone"],
    ]);
    from?.onUp({ resumed: true });
    expect(await heard()).toEqual([]);
    to?.onUp({ resumed: true });
    expect(await heard()).toEqual(["up"]);
  });

  it("is up when both are, whichever is first", async () => {
    const { api, lock, observer, heard } = watching();
    api.isLive = false;
    lock.watch(observer, signal);
    api.watches[1]?.onUp({ resumed: false });
    expect(await heard()).toEqual([]);
    api.watches[0]?.onUp({ resumed: false });
    expect(await heard()).toEqual(["up"]);
  });
});

describe("a migration lock", () => {
  it("names both, prepares both, and announces where it is going", async () => {
    const { api, lock } = open(mine, mine);
    expect(lock.description).toBe("configmap ns/lock and lease ns/lock");
    await lock.prepare();
    await lock.announce("me became leader", await view(lock), signal);
    const event = api.requests.at(-1)?.body as { involvedObject: object };
    expect(event.involvedObject).toMatchObject({ kind: "Lease", name: "lock" });
    const { uid } = api.objects.get(toPath)?.metadata ?? {};
    expect(event.involvedObject).toMatchObject({ uid });
  });

  it("of locks that cannot announce says nothing", async () => {
    const mute = {
      description: "x",
      read: async () => ({ kind: "absent" }) as const,
      write: async () => ({ kind: "absent" }) as const,
    };
    const prepared: string[] = [];
    const lock = new MigrationLock({
      from: { ...mute, prepare: async () => void prepared.push("from") },
      to: { ...mute, prepare: async () => void prepared.push("to") },
    });
    await lock.prepare();
    expect(prepared).toEqual(["from", "to"]);
    await lock.announce("x", undefined, signal);
    lock.watch({} as LockObserver, signal);
    expect(lock.spec).toBeUndefined();
  });
});
