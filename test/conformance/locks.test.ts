// The contract of a lock (packages/election/src/lock.ts) for every kind of lock, on the sandbox and on a real API server.

import type { LockView } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeLock } from "./lock-contract.ts";
import { connectForLocks, type LockTarget, lockKinds, record, viewIn } from "./locks-target.ts";
import type { Body, Target } from "./target.ts";

const { signal } = new AbortController();
let connection: LockTarget;
let target: Target;

beforeAll(async () => {
  connection = await connectForLocks();
  ({ target } = connection);
}, 60_000);
afterAll(() => connection?.close());

describe.each(lockKinds)("$kind", ({ kind, places, make }) => {
  const name = "my-lock";
  let namespace: string;
  let lock: Lock;
  let paths: string[];

  beforeEach(async () => {
    namespace = await target.namespace();
    lock = make({ name, namespace, kubeconfig: connection.kubeconfig });
    paths = places.map((place) => place.path(namespace, name));
    await lock.prepare?.();
  });

  const create = async (holder = "a"): Promise<LockView> =>
    viewIn(await lock.write(record(holder), undefined, signal));
  const stored = (): Promise<Body[]> =>
    Promise.all(paths.map(async (path) => (await target.request("GET", path)).body));
  const patch = (body: object): Promise<unknown> =>
    Promise.all(
      paths.map((path) =>
        target.request("PATCH", path, body, { contentType: "application/merge-patch+json" }),
      ),
    );

  describeLock(async () => ({
    objects: paths.length,
    connect: () => make({ name, namespace, kubeconfig: connection.kubeconfig }),
    touch: () => patch({ metadata: { labels: { touched: "yes" } } }),
    annotate: (annotations) => patch({ metadata: { annotations } }),
    annotations: async () => (await stored()).map(({ metadata }) => metadata.annotations),
    remove: () => Promise.all(paths.map((path) => target.request("DELETE", path))),
  }));

  describe("nothing is dropped", () => {
    it("labels, annotations, finalizers and data of others are kept on acquisition, renewal and release", async () => {
      const labelled = make({ name, namespace, kubeconfig: connection.kubeconfig, labels: { ours: "1" } });
      let view = viewIn(await labelled.write(record("a"), undefined, signal));
      const data = kind === "ConfigMapLock" || kind === "MigrationLock" ? { data: { key: "value" } } : {};
      await Promise.all(
        paths.map((path) =>
          target.request(
            "PATCH",
            path,
            {
              metadata: {
                labels: { theirs: "2" },
                annotations: { "example.com/theirs": "3" },
                finalizers: ["example.com/keep"],
              },
              ...(path.includes("configmaps") && data),
            },
            { contentType: "application/merge-patch+json" },
          ),
        ),
      );
      view = viewIn(await labelled.read(signal));
      for (const next of [record("b"), record("b", 1), { ...record(""), leaseDurationSeconds: 1 }]) {
        view = viewIn(await labelled.write(next, view, signal));
        for (const object of await stored()) {
          expect(object.metadata.labels).toEqual({ ours: "1", theirs: "2" });
          expect(object.metadata.annotations).toMatchObject({ "example.com/theirs": "3" });
          expect(object.metadata.finalizers).toEqual(["example.com/keep"]);
          if (object.kind === "ConfigMap") expect(object.data).toEqual({ key: "value" });
        }
      }
      await patch({ metadata: { finalizers: null } });
    });

    it("a release is written as client-go writes it: no holder, and a duration of one second", async () => {
      const before = await create("a");
      await lock.write({ ...record(""), leaseDurationSeconds: 1 }, before, signal);
      for (const object of await stored()) {
        const json = object.metadata.annotations?.["control-plane.alpha.kubernetes.io/leader"];
        const written = json ? JSON.parse(json) : object.spec;
        expect(written).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
        expect(written.leaseTransitions ?? written.leaderTransitions).toBe(3);
        expect(written.renewTime).toMatch(/^2030-01-01T00:00:00\.123456Z$/);
      }
    });
  });

  describe("a request always gets an answer", () => {
    it("if the namespace does not exist", async () => {
      const elsewhere = make({ name, namespace: `${namespace}-not`, kubeconfig: connection.kubeconfig });
      expect(await elsewhere.read(signal)).toEqual({ kind: "absent" });
      expect(await elsewhere.write(record("a"), undefined, signal)).toMatchObject({
        kind: "failed",
        failure: { kind: "server", message: expect.stringContaining(`${namespace}-not`) },
      });
    });
  });
});
