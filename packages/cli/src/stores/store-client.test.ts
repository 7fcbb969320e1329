import { systemClock } from "@tenure/base";
import type { Answer, LockView } from "@tenure/core";
import { type OperableLock, viewOfStored, withAnnotations } from "@tenure/election/internal";
import { describe, expect, it } from "vitest";
import type { LockObject } from "../elections/lock-object.ts";
import { StoreClient } from "./store-client.ts";

const record = { holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 2 };
const path = "/apis/coordination.k8s.io/v1/namespaces/postgres/leases";

/** A store with one lock, and the observers of its watches. */
function newStore(read?: () => Answer) {
  let view: LockView | undefined = viewOfStored("u", 7n, { record, annotations: { note: "keep" } });
  const observers: Parameters<NonNullable<OperableLock["watch"]>>[0][] = [];
  const lock: OperableLock = {
    description: "x",
    read: async () => read?.() ?? (view ? { kind: "found", view } : { kind: "absent" }),
    write: async () => ({ kind: "conflict" }),
    async annotate(over, changes) {
      if (over.version !== view?.version) return { kind: "conflict" };
      view = viewOfStored("u", over.revision + 1n, withAnnotations(over, changes));
      return { kind: "found", view };
    },
    list: async () => new Map(view ? [["x", view]] : []),
    watch: (observer) => observers.push(observer),
  };
  const client = new StoreClient({ open: async () => lock, namespace: "postgres", clock: systemClock });
  const remove = () => {
    view = undefined;
  };
  return { client, observers, remove };
}

describe("the locks of a store, as Leases", () => {
  it("can be read and listed", async () => {
    const { client } = newStore();
    const lease = {
      kind: "Lease",
      metadata: {
        name: "x",
        namespace: "postgres",
        uid: "u",
        resourceVersion: "7",
        annotations: { note: "keep" },
      },
      spec: record,
    };
    expect(await client.request({ method: "GET", path: `${path}/x` })).toEqual(lease);
    expect(await client.request({ method: "GET", path })).toEqual({ items: [lease] });
  });

  it("can be annotated only in the version that was read", async () => {
    const { client } = newStore();
    const patch = (resourceVersion: string) =>
      client.request<LockObject>({
        method: "PATCH",
        path: `${path}/x`,
        body: { metadata: { resourceVersion, annotations: { "tenure.dev/paused": "true" } } },
      });
    expect((await patch("7")).metadata.annotations).toEqual({ note: "keep", "tenure.dev/paused": "true" });
    await expect(patch("7")).rejects.toMatchObject({ code: "Conflict" });
  });

  it("are not found, denied or unreachable like Leases", async () => {
    const { client, remove } = newStore();
    remove();
    await expect(client.request({ method: "GET", path: `${path}/x` })).rejects.toMatchObject({
      code: "NotFound",
    });
    for (const [kind, code] of [
      ["denied", "Forbidden"],
      ["timeout", "Unreachable"],
    ] as const) {
      const failing = newStore(() => ({ kind: "failed", failure: { kind, message: "why" } }));
      await expect(failing.client.request({ method: "GET", path: `${path}/x` })).rejects.toMatchObject({
        code,
        message: "why",
      });
    }
  });

  it("are watched, and read once the watch is up", async () => {
    const { client, observers, remove } = newStore();
    const seen: string[] = [];
    const ending = new AbortController();
    const ended = client.watch<LockObject>({
      path,
      query: { fieldSelector: "metadata.name=x" },
      signal: ending.signal,
      onEvent: ({ type, object }) => seen.push(`${type} ${object.metadata.resourceVersion}`),
      onUp: () => seen.push("up"),
      onDown: ({ message }) => seen.push(message),
    });
    await expect.poll(() => observers.length).toBe(1);
    observers[0]?.up();
    await expect.poll(() => seen).toEqual(["up", "MODIFIED 7"]);
    observers[0]?.down({ kind: "server", message: "gone" });
    remove();
    observers[0]?.deleted(9n);
    expect(seen).toEqual(["up", "MODIFIED 7", "gone", "DELETED undefined"]);
    ending.abort();
    await ended;
  });
});
