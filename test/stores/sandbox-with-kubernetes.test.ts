/** A sandbox and a real kube-apiserver on one etcd, and several sandboxes as processes: one cluster. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LeaseLock } from "@tenure/election";
import { openEtcdStore, type Sandbox, type Store, startSandbox } from "@tenure/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../conformance/locks-target.ts";
import { leads, Replicas } from "../conformance/replicas.ts";
import { Target } from "../conformance/target.ts";
import { type Cluster, startCluster } from "../kube/cluster.mjs";
import { type EtcdCluster, startEtcd } from "./etcd.mjs";

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const program = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));

describe("a real kube-apiserver", () => {
  let cluster: Cluster;
  let store: Store;
  let sandbox: Sandbox;
  let kube: Target;
  let ours: Target;
  let ourConfig: string;

  beforeAll(async () => {
    cluster = await startCluster({ apiServerFlags: ["--storage-media-type=application/json"] });
    store = await openEtcdStore({ endpoints: [cluster.etcdServer] });
    sandbox = await startSandbox({ store });
    ourConfig = join(cluster.folder, "sandbox.kubeconfig");
    await writeFile(ourConfig, sandbox.kubeconfig);
    kube = new Target(await readFile(cluster.kubeconfigPath, "utf8"), false, async () => {});
    ours = new Target(sandbox.kubeconfig, true, async () => {});
  }, 180_000);
  afterAll(async () => {
    await sandbox?.close();
    await store?.close();
    await cluster?.stop();
  });

  it("and the sandbox see and change each other's objects, with the same versions", async () => {
    for (const [name, writer, reader] of [
      ["from-kube", kube, ours],
      ["from-sandbox", ours, kube],
    ] as const) {
      const created = await writer.request("POST", leases, {
        metadata: { name },
        spec: { holderIdentity: "a" },
      });
      expect(created.status).toBe(201);
      const read = await reader.request("GET", `${leases}/${name}`);
      expect(read.body.spec).toEqual(created.body.spec);
      expect(read.body.metadata.uid).toBe(created.body.metadata.uid);
      expect(read.body.metadata.resourceVersion).toBe(created.body.metadata.resourceVersion);
      const changed = { ...read.body, spec: { holderIdentity: "b" } };
      const updated = await reader.request("PUT", `${leases}/${name}`, changed);
      expect(updated.status).toBe(200);
      // The version of the first write is old now, for both.
      expect((await writer.request("PUT", `${leases}/${name}`, created.body)).status).toBe(409);
      expect((await writer.request("GET", `${leases}/${name}`)).body.spec.holderIdentity).toBe("b");
      expect((await writer.request("DELETE", `${leases}/${name}`)).status).toBe(200);
      expect((await reader.request("GET", `${leases}/${name}`)).status).toBe(404);
    }
  });

  it("and the sandbox hand one lease back and forth between their candidates", async () => {
    let kubeconfig = "";
    const replicas = new Replicas(
      () => new LeaseLock({ namespace: "default", name: "back-and-forth", kubeconfig }),
    );
    kubeconfig = cluster.kubeconfigPath;
    const onKube = replicas.start("on-kube");
    await leads(onKube);
    kubeconfig = ourConfig;
    const onSandbox = replicas.start("on-sandbox");
    await eventually(() => onSandbox.election.leader === "on-kube", "the other one knows who leads");
    for (let round = 1; round <= 5; round++) {
      onKube.election.stepDown();
      await leads(onSandbox, round);
      onSandbox.election.stepDown();
      await leads(onKube, round + 1);
    }
    await replicas.stop();
    const tokens = [...onKube.tokens, ...onSandbox.tokens];
    expect(new Set(tokens).size).toBe(11);
    expect([...onKube.errors, ...onSandbox.errors]).toEqual([]);
    for (let round = 0; round < 5; round++) {
      expect(onSandbox.tokens[round]).toBeGreaterThan(onKube.tokens[round] as bigint);
      expect(onKube.tokens[round + 1]).toBeGreaterThan(onSandbox.tokens[round] as bigint);
    }
  });
});

describe("`tenure sandbox --store`", () => {
  let etcd: EtcdCluster;
  let folder: string;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 3 });
    folder = await mkdtemp(join(tmpdir(), "tenure-sandboxes-"));
  });
  afterAll(async () => {
    await etcd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function start(name: string) {
    const kubeconfig = join(folder, name);
    const url = `etcd://${etcd.endpoints.map((endpoint) => endpoint.slice("http://".length)).join(",")}`;
    const child = spawn(
      process.execPath,
      [program, "sandbox", "--port", "0", "--kubeconfig-out", kubeconfig, "--store", url],
      { env: { PATH: process.env.PATH ?? "", HOME: folder }, stdio: ["ignore", "pipe", "pipe"] },
    );
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    child.stderr.on("data", (data) => {
      output += data;
    });
    const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const ready = async () => {
      await eventually(() => output.includes('"ready"') || child.exitCode !== null, "the sandbox is ready");
      expect(output).toContain('"ready"');
      return new Target(await readFile(kubeconfig, "utf8"), true, async () => {});
    };
    return { child, exited, ready };
  }

  it("several processes serve one truth, and one of them can be killed", async () => {
    const processes = [start("a"), start("b"), start("c")];
    try {
      const [a, b, c] = (await Promise.all(processes.map(({ ready }) => ready()))) as [
        Target,
        Target,
        Target,
      ];
      const body = { metadata: { name: "shared" }, spec: { holderIdentity: "x", leaseDurationSeconds: 1 } };
      const created = await a.request("POST", leases, body);
      expect(created.status).toBe(201);
      expect((await b.request("GET", `${leases}/shared`)).body).toEqual(created.body);
      // All three change the same version: one wins.
      const answers = await Promise.all(
        [a, b, c].map((target, index) =>
          target.request("PUT", `${leases}/shared`, {
            ...created.body,
            spec: { leaseDurationSeconds: index + 2 },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      processes[0]?.child.kill("SIGKILL");
      const read = await c.request("GET", `${leases}/shared`);
      expect((await b.request("PUT", `${leases}/shared`, read.body)).status).toBe(200);
    } finally {
      for (const { child } of processes) child.kill("SIGTERM");
      await Promise.all(processes.map(({ exited }) => exited));
    }
  });

  it("says what is wrong with the URL", async () => {
    const bad = spawn(process.execPath, [program, "sandbox", "--store", "etcd://u:secret@a"], {
      env: { PATH: process.env.PATH ?? "", HOME: folder },
    });
    let output = "";
    bad.stderr.on("data", (data) => {
      output += data;
    });
    expect(await new Promise((resolve) => bad.once("exit", resolve))).toBe(2);
    expect(output).toContain("--store must not contain a password");
    expect(output).not.toContain("secret");
  });
});
