// The contract of a lock (packages/election/src/lock.ts) for every kind of lock, on the sandbox and on a real API server.

import type { Answer, LockView } from "@tenure/core";
import type { Lock, LockObserver } from "@tenure/election";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectForLocks, eventually, type LockTarget, lockKinds, record, viewIn } from "./locks-target.ts";
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
  const remove = (): Promise<unknown> => Promise.all(paths.map((path) => target.request("DELETE", path)));
  const holder = async (): Promise<string | undefined> => {
    const answer = await lock.read(signal);
    return answer.kind === "found" ? answer.view.record.holderIdentity : answer.kind;
  };
  const wins = (answers: readonly Answer[]) => answers.filter((answer) => answer.kind === "found").length;

  describe("a write is compare-and-swap", () => {
    it("creates a lock that does not exist, and reads back what was written", async () => {
      expect(await lock.read(signal)).toEqual({ kind: "absent" });
      const written = await create();
      expect(written.record).toEqual(record("a"));
      const read = viewIn(await lock.read(signal));
      expect([read.record, read.uid, read.version]).toEqual([record("a"), written.uid, written.version]);
    });

    it("does not create a lock that exists", async () => {
      await create("a");
      expect(await lock.write(record("b"), undefined, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("a");
    });

    it("changes the lock only if it has not changed since it was read", async () => {
      const first = await create("a");
      const second = viewIn(await lock.write(record("a", 3), first, signal));
      expect(second.record).toEqual(record("a", 3));
      expect(await lock.write(record("b"), first, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("a");
      expect(await lock.write(record("b"), second, signal)).toMatchObject({ kind: "found" });
      expect(await holder()).toBe("b");
    });

    it("does not overwrite a lock of which only the labels changed", async () => {
      const before = await create("a");
      await patch({ metadata: { labels: { touched: "yes" } } });
      expect(await lock.write(record("b"), before, signal)).toEqual({ kind: "conflict" });
    });

    it("accepts a transfer only over the version that was read, and leaves the record as it is", async () => {
      await create("a");
      await patch({
        metadata: { annotations: { "tenure.dev/transfer": "0/b", "example.com/note": "keep" } },
      });
      const asked = viewIn(await lock.read(signal));
      expect(asked.orders).toEqual({ transfer: { transitions: 0, to: "b" } });
      const accepted = viewIn(await (lock.acceptTransfer?.(asked, signal) as Promise<Answer>));
      expect(accepted.orders).toEqual({ transfer: { transitions: 0, to: "b", accepted: true } });
      expect([accepted.record, accepted.uid]).toEqual([asked.record, asked.uid]);
      expect(accepted.revision).toBeGreaterThan(asked.revision);
      for (const { metadata } of await stored())
        expect(metadata.annotations["example.com/note"]).toBe("keep");
      expect(await lock.acceptTransfer?.(asked, signal)).toEqual({ kind: "conflict" });
      const renewed = viewIn(await lock.write(record("a", 3), accepted, signal));
      expect(renewed.orders).toEqual(accepted.orders);
      expect(await lock.acceptTransfer?.(accepted, signal)).toEqual({ kind: "conflict" });
      await remove();
      expect((await lock.acceptTransfer?.(renewed, signal))?.kind).toMatch(/^(absent|conflict)$/);
    });

    it("does not recreate a deleted lock", async () => {
      const before = await create("a");
      await remove();
      expect(["conflict", "absent"]).toContain((await lock.write(record("a", 3), before, signal)).kind);
      expect(await lock.read(signal)).toEqual({ kind: "absent" });
    });

    it("does not overwrite a new lock with the same name", async () => {
      const before = await create("a");
      await remove();
      const after = await create("b");
      expect(after.uid).not.toBe(before.uid);
      expect(await lock.write(record("a", 3), before, signal)).toEqual({ kind: "conflict" });
      expect(await holder()).toBe("b");
    });

    it("succeeds for exactly one of many candidates that write over the same view", async () => {
      const candidates = Array.from({ length: 8 }, (_, index) => `candidate-${index}`);
      const links = candidates.map(() => make({ name, namespace, kubeconfig: connection.kubeconfig }));
      const before = await create();
      await Promise.all(links.map((link) => link.prepare?.()));
      const answers = await Promise.all(
        links.map((link, index) => link.write(record(candidates[index] as string), before, signal)),
      );
      expect(wins(answers)).toBe(1);
      const winner = candidates[answers.findIndex((answer) => answer.kind === "found")];
      expect(await holder()).toBe(winner);
    });

    it("succeeds for exactly one of many candidates that create the lock", async () => {
      const links = Array.from({ length: 8 }, () =>
        make({ name, namespace, kubeconfig: connection.kubeconfig }),
      );
      const answers = await Promise.all(
        links.map((link, index) => link.write(record(`candidate-${index}`), undefined, signal)),
      );
      expect(wins(answers)).toBe(1);
    });
  });

  describe("a revision orders all changes", () => {
    it("grows with every change, even if the lock is deleted and created again, and versions differ", async () => {
      const views = [await create("a")];
      views.push(viewIn(await lock.write(record("a", 1), views[0], signal)));
      await patch({ metadata: { annotations: { "example.com/x": "1" } } });
      views.push(viewIn(await lock.read(signal)));
      await remove();
      views.push(await create("b"));
      for (let index = 1; index < views.length; index++) {
        expect(views[index]?.revision).toBeGreaterThan(views[index - 1]?.revision as bigint);
      }
      expect(new Set(views.map(({ version }) => version)).size).toBe(views.length);
    });

    it("does not change by reading", async () => {
      const { version } = await create();
      expect(viewIn(await lock.read(signal)).version).toBe(version);
    });
  });

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
    it("if its signal is aborted", async () => {
      const aborted = AbortSignal.abort();
      expect(await lock.read(aborted)).toMatchObject({ kind: "failed", failure: { kind: "timeout" } });
      expect(await lock.write(record("a"), undefined, aborted)).toMatchObject({ kind: "failed" });
    });

    it("if the namespace does not exist", async () => {
      const elsewhere = make({ name, namespace: `${namespace}-not`, kubeconfig: connection.kubeconfig });
      expect(await elsewhere.read(signal)).toEqual({ kind: "absent" });
      expect(await elsewhere.write(record("a"), undefined, signal)).toMatchObject({
        kind: "failed",
        failure: { kind: "server", message: expect.stringContaining(`${namespace}-not`) },
      });
    });
  });

  describe("a watch", () => {
    it("reports every change until its signal aborts", async () => {
      let news = 0;
      let isUp = false;
      const holders: string[] = [];
      let deletions = 0;
      const observer: LockObserver = {
        observed: ({ record: { holderIdentity } }) => {
          news += 1;
          holders.push(holderIdentity);
        },
        deleted: () => deletions++,
        changed: () => news++,
        up: () => {
          isUp = true;
        },
        down: () => {
          isUp = false;
        },
      };
      const ending = new AbortController();
      lock.watch?.(observer, ending.signal);
      await eventually(() => isUp, "the watch is up");
      let view = viewIn(await other().write(record("a"), undefined, signal));
      await eventually(() => news >= paths.length, "the creation is reported");
      const before = news;
      view = viewIn(await other().write(record("b"), view, signal));
      await eventually(() => news >= before + paths.length, "the change is reported");
      expect(holders).toEqual(paths.length === 1 ? ["a", "b"] : []);
      const beforeDeletion = news;
      await remove();
      await eventually(() => deletions + news - beforeDeletion >= paths.length, "the deletion is reported");
      ending.abort();
      const after = news;
      // A second watch shows when the first one would have reported the change.
      let reported = 0;
      const goingOn = new AbortController();
      const onChange = () => reported++;
      other().watch?.({ ...observer, observed: onChange, changed: onChange }, goingOn.signal);
      viewIn(await other().write(record("c"), undefined, signal));
      await eventually(() => reported >= paths.length, "another watch reports it");
      goingOn.abort();
      expect(news).toBe(after);
      expect(view.record.holderIdentity).toBe("b");
    });

    /** The lock of another candidate, because a MigrationLock does not report its own writes. */
    const other = () => make({ name, namespace, kubeconfig: connection.kubeconfig });
  });
});
