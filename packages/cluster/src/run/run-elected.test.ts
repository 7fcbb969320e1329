import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { configMaps, namespaces } from "../client/resources.ts";
import { WorkQueue } from "../client/work-queue.ts";
import { createObject } from "../client/writes.ts";
import type { Controller } from "../controllers/controller.ts";
import { runElected } from "./run-elected.ts";

let sandbox: Sandbox;
let folder: string;
let client: KubeClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-elected-"));
  sandbox = await startSandbox();
  const kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  client = new KubeClient(() => loadConfig({ kubeconfig }));
});
afterEach(async () => {
  client.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
});

/** A controller that puts a ConfigMap with its author into every namespace. */
function author(name: string, sync: () => Promise<void> = async () => {}): Controller {
  return ({ client: fenced, platform, informers, onError }) => {
    const all = informers.of(namespaces);
    const work = async (namespace: string) => {
      await sync();
      await createObject(fenced, configMaps, namespace, { metadata: { name: `by-${name}` } });
    };
    const queue = new WorkQueue({ platform, onError, work });
    all.onChange(({ current, previous }) => {
      if (current && !previous && current.metadata.name.startsWith("test-")) queue.add(current.metadata.name);
    });
    return queue;
  };
}

function run(name: string, controller: Controller) {
  const stop = new AbortController();
  let markLeading = () => {};
  const leading = new Promise<void>((resolve) => {
    markLeading = resolve;
  });
  const ended = runElected("test", [controller], {
    client,
    identity: name,
    signal: stop.signal,
    onLeading: (isLeading) => isLeading && markLeading(),
  });
  return { leading, stop: () => stop.abort(), ended };
}

async function createNamespace(name: string): Promise<void> {
  await createObject(client, namespaces, undefined, { metadata: { name } });
}

async function mapsIn(namespace: string): Promise<string[]> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const { items } = await client.request<{ items: { metadata: { name: string } }[] }>({
    method: "GET",
    path,
  });
  return items.map(({ metadata }) => metadata.name);
}

it("works on one of two processes, and on the other when the first stops", async () => {
  const first = run("first", author("first"));
  await first.leading;
  const second = run("second", author("second"));
  await createNamespace("test-1");
  await expect.poll(() => mapsIn("test-1")).toEqual(["by-first"]);
  first.stop();
  await first.ended;
  await second.leading;
  // The second also sees what happened before its term.
  await expect.poll(() => mapsIn("test-1")).toEqual(["by-first", "by-second"]);
  await createNamespace("test-2");
  await expect.poll(() => mapsIn("test-2")).toEqual(["by-second"]);
  second.stop();
  await second.ended;
});

it("writes nothing after it was asked to stop, though its work goes on", async () => {
  let markStarted = () => {};
  const started = new Promise<void>((resolve) => {
    markStarted = resolve;
  });
  let goOn = () => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow = run(
    "slow",
    author("slow", async () => {
      markStarted();
      await waiting;
    }),
  );
  await createNamespace("test-1");
  await started;
  slow.stop();
  goOn();
  await slow.ended;
  expect(await mapsIn("test-1")).toEqual([]);
});
