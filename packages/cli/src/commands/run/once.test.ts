import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/base";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newOnce, onceProblems } from "./once.ts";

let sandbox: Sandbox;
let client: KubeClient;
let folder = "";
let count = 0;

beforeAll(async () => {
  sandbox = await startSandbox();
  folder = await mkdtemp(join(tmpdir(), "tenure-test-"));
  const kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(loadConfig({ kubeconfig }));
});
afterAll(async () => {
  client.close();
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const collection = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const { signal } = new AbortController();
const term = { token: 7n, isValid: () => true } as never;

interface Lease {
  readonly metadata: {
    readonly annotations?: Record<string, string>;
    readonly labels?: Record<string, string>;
  };
}

async function newLock(holderIdentity: string) {
  const name = `once-${++count}`;
  const metadata = { name, labels: { team: "x" }, annotations: { "other.io/x": "1" } };
  const body = { kind: "Lease", metadata, spec: { holderIdentity, leaseDurationSeconds: 15 } };
  await client.request({ method: "POST", path: collection, body });
  const done: string[] = [];
  const once = (task: string, identity = "a") =>
    newOnce({
      task,
      client,
      lock: "lease",
      namespace: "default",
      name,
      identity,
      clock: systemClock,
      onDone: (by) => done.push(by),
    });
  const read = () => client.request<Lease>({ method: "GET", path: `${collection}/${name}` });
  return { name, done, once, read };
}

describe("a task", () => {
  it("is recorded with who and when, and nothing else of the lock changes", async () => {
    const { once, read, done } = await newLock("a");
    const task = once("v1");
    expect([await task.isRecorded(signal), task.isDone]).toEqual([false, false]);
    expect(await task.record(term, signal)).toBe(true);
    expect([await task.isRecorded(signal), task.isDone, done]).toEqual([true, true, ["a"]]);
    const { labels, annotations } = (await read()).metadata;
    expect([labels, annotations]).toEqual([
      { team: "x" },
      { "other.io/x": "1", "completed.tenure.dev/v1": expect.any(String) },
    ]);
    expect(JSON.parse(annotations?.["completed.tenure.dev/v1"] ?? "")).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      by: "a",
      token: "7",
    });
  });

  it("of another name is another task, and does not remove the first", async () => {
    const { once } = await newLock("a");
    await once("v1").record(term, signal);
    expect(await once("v2").isRecorded(signal)).toBe(false);
    await once("v2").record(term, signal);
    expect(await once("v1").isRecorded(signal)).toBe(true);
  });

  it("is not recorded by a replica that does not hold the lock, or whose term is over", async () => {
    const { once } = await newLock("b");
    expect(await once("v1").record(term, signal)).toBe(false);
    expect(await once("v1", "b").record({ token: 7n, isValid: () => false } as never, signal)).toBe(false);
    expect(await once("v1").isRecorded(signal)).toBe(false);
  });

  it("is not recorded on a lock that was deleted, and not done if there is no lock", async () => {
    const { name, once } = await newLock("a");
    await client.request({ method: "DELETE", path: `${collection}/${name}` });
    expect(await once("v1").record(term, signal)).toBe(false);
    expect(await once("v1").isRecorded(signal)).toBe(false);
  });

  it("is recorded once if the lock is renewed meanwhile, or if the answer is lost", async () => {
    const { name, once, read } = await newLock("a");
    sandbox.faults.add({ verb: "update", resource: "leases", effect: "lose-answer", times: 1 });
    const task = once("v1");
    await task.record(term, signal).catch(() => {});
    const { annotations } = (await read()).metadata;
    expect(annotations?.["completed.tenure.dev/v1"]).toBeDefined();
    expect(await task.record(term, signal)).toBe(true);
    expect((await read()).metadata.annotations).toEqual(annotations);

    let renewals = 0;
    const racing = newOnce({
      task: "v2",
      lock: "lease",
      namespace: "default",
      name,
      identity: "a",
      clock: systemClock,
      onDone: () => {},
      client: {
        request: async (request) => {
          // A renewal between the read and the write.
          if (request.method === "PUT" && renewals++ === 0) {
            const lease = await read();
            await client.request({
              method: "PUT",
              path: request.path,
              body: { ...lease, spec: { holderIdentity: "a" } },
            });
          }
          return client.request(request);
        },
      },
    });
    expect([await racing.record(term, signal), renewals]).toEqual([true, 2]);
  });

  it("is not recorded if another replica takes the lock between the read and the write", async () => {
    const { name, read, once } = await newLock("a");
    let puts = 0;
    const late = newOnce({
      task: "v1",
      lock: "lease",
      namespace: "default",
      name,
      identity: "a",
      clock: systemClock,
      onDone: () => {},
      client: {
        request: async (request) => {
          if (request.method === "PUT" && puts++ === 0) {
            const lease = await read();
            await client.request({
              method: "PUT",
              path: request.path,
              body: { ...lease, spec: { holderIdentity: "b" } },
            });
          }
          return client.request(request);
        },
      },
    });
    expect(await late.record(term, signal)).toBe(false);
    expect(await once("v1").isRecorded(signal)).toBe(false);
  });
});

describe("--once", () => {
  it.each(["v1", "2026-11-add-index", "A_b.c", "x".repeat(63)])("accepts %s", (once) => {
    expect(onceProblems({ once })).toEqual([]);
  });

  it.each(["", "-v1", "a b", "a/b", "x".repeat(64)])("rejects %j", (once) => {
    expect(onceProblems({ once })).toMatchObject([{ field: "once" }]);
  });

  it("rejects a child that runs on every replica", () => {
    expect(onceProblems({ once: "v1", warm: true })).toMatchObject([{ field: "once" }]);
  });

  it("rejects a lock in a store, and does not repeat its password", () => {
    const problems = onceProblems({ once: "v1", lock: "postgres://u:secret@db/app" });
    expect(problems).toMatchObject([{ field: "once", value: "postgres://…" }]);
  });

  it("rejects a lock in two objects", () => {
    expect(onceProblems({ once: "v1", lock: "configmap+lease" })).toMatchObject([
      { value: "configmap+lease" },
    ]);
  });
});
