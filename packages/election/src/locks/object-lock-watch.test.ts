import { settle } from "@tenure/base/virtual-clock";
import { KubeError } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import type { LockObserver } from "../lock.ts";
import { FakeApi } from "../testing/fake-api.ts";
import { LeaseLock } from "./lease-lock.ts";
import type { KubeObject } from "./object-kind.ts";

describe("watch", () => {
  function watching() {
    const api = new FakeApi();
    const lock = new LeaseLock({ name: "lock", namespace: "ns", client: api.client });
    const calls: unknown[] = [];
    const observer: LockObserver = {
      observed: ({ version, record }) => calls.push(["observed", version, record.holderIdentity]),
      deleted: (revision) => calls.push(["deleted", revision]),
      changed: () => calls.push("changed"),
      up: () => calls.push("up"),
      down: (failure) => calls.push(["down", failure]),
    };
    const controller = new AbortController();
    const start = () => lock.watch(observer, controller.signal);
    const event = (type: "ADDED" | "MODIFIED" | "DELETED", object: object) =>
      api.watches[0]?.onEvent({ type, object: object as KubeObject });
    return { api, lock, calls, controller, start, event };
  }

  const lease = (resourceVersion: string | undefined, spec: object = {}) => ({
    metadata: { name: "lock", uid: "u", resourceVersion },
    spec,
  });

  it("selects the object by its name, and reconnects after silence", () => {
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

  it("reports what it sees", () => {
    const { calls, start, event, api } = watching();
    start();
    api.watches[0]?.onUp({ resumed: false });
    event("ADDED", lease("7", { holderIdentity: "a" }));
    event("MODIFIED", lease("8", { holderIdentity: "b" }));
    event("DELETED", lease("9", { holderIdentity: "b" }));
    api.watches[0]?.onDown(new KubeError("Forbidden", "may not watch"));
    expect(calls).toEqual([
      "up",
      ["observed", "7", "a"],
      ["observed", "8", "b"],
      ["deleted", 9n],
      ["down", { kind: "denied", message: "may not watch" }],
    ]);
  });

  it("asks for a read after it lost history, because it may have missed a deletion", () => {
    const { calls, start, api } = watching();
    start();
    api.watches[0]?.onUp({ resumed: false });
    api.watches[0]?.onUp({ resumed: true });
    expect(calls.splice(0)).toEqual(["up", "up"]);
    api.watches[0]?.onUp({ resumed: false });
    expect(calls).toEqual(["up", "changed"]);
  });

  it.each<[string, object]>([
    ["a holder that is not a string", lease("7", { holderIdentity: 7 })],
    ["a resourceVersion that is not a number", lease("abc")],
    ["no resourceVersion", lease(undefined)],
    ["no metadata", {}],
  ])("asks for a read of an object with %s", (_what, object) => {
    const { calls, start, event } = watching();
    start();
    event("MODIFIED", object);
    event("DELETED", object);
    expect(calls.filter((line) => line === "changed").length).toBeGreaterThanOrEqual(1);
    expect(calls).not.toContainEqual(expect.arrayContaining(["observed"]));
  });

  it("is down if the client is closed, without an unhandled rejection", async () => {
    const { api, calls, start } = watching();
    api.fail = () => new KubeError("Aborted", "the client was closed");
    start();
    await settle();
    expect(calls).toEqual([["down", { kind: "timeout", message: "the client was closed" }]]);
  });
});
