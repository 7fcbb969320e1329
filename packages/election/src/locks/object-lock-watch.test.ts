import { settle } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { LeaseLock } from "./lease-lock.ts";
import type { KubeObject } from "./object-lock.ts";

describe("watch", () => {
  function watching() {
    const api = new FakeApi();
    const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client });
    const told: unknown[] = [];
    const observer: LockObserver = {
      observed: ({ version, record }) => told.push(["observed", version, record.holderIdentity]),
      deleted: (revision) => told.push(["deleted", revision]),
      changed: () => told.push("changed"),
      up: () => told.push("up"),
      down: (failure) => told.push(["down", failure]),
    };
    const controller = new AbortController();
    const start = () => lock.watch(observer, controller.signal);
    const event = (type: "ADDED" | "MODIFIED" | "DELETED", object: object) =>
      api.watches[0]?.onEvent({ type, object: object as KubeObject });
    return { api, lock, told, controller, start, event };
  }

  const lease = (resourceVersion: string | undefined, spec: object = {}) => ({
    metadata: { name: "lock", uid: "u", resourceVersion },
    spec,
  });

  it("follows the one object by its name, and suspects silence", () => {
    const { api, start, controller } = watching();
    start();
    expect(api.watches).toMatchObject([
      {
        path: "/apis/coordination.k8s.io/v1/namespaces/ns/leases",
        query: { fieldSelector: "metadata.name=lock" },
        idleMs: 150_000,
      },
    ]);
    expect(api.watches[0]?.signal).toBe(controller.signal);
  });

  it("tells what it sees", () => {
    const { told, start, event, api } = watching();
    start();
    api.watches[0]?.onUp({ resumed: false });
    event("ADDED", lease("7", { holderIdentity: "a" }));
    event("MODIFIED", lease("8", { holderIdentity: "b" }));
    event("DELETED", lease("9", { holderIdentity: "b" }));
    api.watches[0]?.onDown(new KubeError("Forbidden", "may not watch"));
    expect(told).toEqual([
      "up",
      ["observed", "7", "a"],
      ["observed", "8", "b"],
      ["deleted", 9n],
      ["down", { kind: "denied", message: "may not watch" }],
    ]);
  });

  it("that lost history may have missed a deletion: the lock is to be read", () => {
    const { told, start, api } = watching();
    start();
    api.watches[0]?.onUp({ resumed: false });
    api.watches[0]?.onUp({ resumed: true });
    expect(told.splice(0)).toEqual(["up", "up"]);
    api.watches[0]?.onUp({ resumed: false });
    expect(told).toEqual(["up", "changed"]);
  });

  it.each<[string, object]>([
    ["a holder that is no text", lease("7", { holderIdentity: 7 })],
    ["a resourceVersion that is no number", lease("abc")],
    ["no resourceVersion", lease(undefined)],
    ["no metadata", {}],
  ])("what it cannot understand, %s, is to be read", (_what, object) => {
    const { told, start, event } = watching();
    start();
    event("MODIFIED", object);
    event("DELETED", object);
    expect(told.filter((line) => line === "changed").length).toBeGreaterThanOrEqual(1);
    expect(told).not.toContainEqual(expect.arrayContaining(["observed"]));
  });

  it("that cannot even begin, for its client was closed, is down; nothing is left unhandled", async () => {
    const { api, told, start } = watching();
    api.fail = () => new KubeError("Aborted", "the client was closed");
    start();
    await settle();
    expect(told).toEqual([["down", { kind: "timeout", message: "the client was closed" }]]);
  });
});
