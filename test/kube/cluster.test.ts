import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Access, must } from "./api.ts";
import { findAssets } from "./assets.mjs";
import { type Cluster, startCluster } from "./cluster.mjs";
import { isRunning } from "./process.mjs";

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

describe("startCluster", () => {
  let cluster: Cluster;
  let admin: Access;

  beforeAll(async () => {
    cluster = await startCluster();
    admin = { server: cluster.server, caPem: cluster.caPem, token: cluster.adminToken };
  });
  afterAll(() => cluster.stop());

  it.each([
    { signal: "SIGTERM", withEtcd: false },
    { signal: "SIGKILL", withEtcd: false },
    { signal: "SIGKILL", withEtcd: true },
  ] as const)("keeps address, certificate, token and data over a restart: %o", async (options) => {
    const name = `${options.signal}-${options.withEtcd}`.toLowerCase();
    const before = await must(admin, "POST", leases, { metadata: { name } });
    const { kubeApiServer, etcd } = cluster.pids();
    await cluster.restartApiServer(options);
    expect(cluster.pids().kubeApiServer).not.toBe(kubeApiServer);
    expect(cluster.pids().etcd === etcd).toBe(!options.withEtcd);
    expect((await must(admin, "GET", `${leases}/${name}`)).metadata).toEqual(before.metadata);
  });

  it("rejects the start of a running server, and leaves it running", async () => {
    await expect(cluster.startApiServer()).rejects.toThrow("it is already running");
    await must(admin, "GET", leases);
  });

  it("reports a server that exits unexpectedly", async () => {
    process.kill(cluster.pids().kubeApiServer ?? 0, "SIGKILL");
    expect((await cluster.died).message).toMatch(/^kube-apiserver exited unexpectedly \(signal SIGKILL\)/);
    await cluster.startApiServer();
    await must(admin, "GET", leases);
  });

  it.each([
    { when: "a server ends", started: 3 },
    { when: "a server starts", started: 4 },
  ])("can be stopped in the middle of a restart: $when", async ({ started }) => {
    const other = await startCluster();
    onTestFinished(() => other.stop());
    const restart = other.restartApiServer({ withEtcd: true });
    await vi.waitUntil(() => other.startedPids().length >= started, 20_000);
    await Promise.all([other.stop(), expect(restart).rejects.toThrow("Cannot start")]);
    expect(await runningOf(other.startedPids())).toEqual([]);
    await expect(stat(other.folder)).rejects.toThrow("ENOENT");
  });

  it("leaves no process and no folder when stopped, also when stopped twice", async () => {
    await Promise.all([cluster.stop(), cluster.stop()]);
    expect(await runningOf(cluster.startedPids())).toEqual([]);
    await expect(stat(cluster.folder)).rejects.toThrow("ENOENT");
  });
});

describe("up.mjs", () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-kube-test-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([
    { signal: "SIGINT", code: 0 },
    { signal: "SIGTERM", code: 0 },
    // No handler can catch this signal, so the cleanup process has to work.
    { signal: "SIGKILL", code: null },
  ] as const)("stops everything that it started on $signal", async ({ signal, code }) => {
    const kubeconfig = join(folder, signal);
    const up = runUp(["--kubeconfig", kubeconfig]);
    try {
      expect(await up.firstLine).toBe(kubeconfig);
      expect(await readFile(kubeconfig, "utf8")).toContain("token: ");
      const data = /its logs are in (\S+);/.exec(up.stderr())?.[1] ?? "";
      const pids = await processesThatMention(data);
      expect(pids).toHaveLength(3);

      up.child.kill(signal);
      expect(await up.exited).toBe(code);
      await vi.waitFor(async () => {
        expect(await runningOf(pids)).toEqual([]);
        await expect(stat(data)).rejects.toThrow("ENOENT");
      }, 10_000);
    } finally {
      up.child.kill("SIGKILL");
    }
  });

  it("shows the end of the log of a server that does not start, and leaves no process", async () => {
    const fake = join(folder, "fake");
    await mkdir(fake);
    const { etcd } = await findAssets();
    await writeFile(join(fake, "etcd"), `#!/bin/sh\nexec ${etcd} "$@"\n`);
    await writeFile(join(fake, "kube-apiserver"), "#!/bin/sh\necho no such luck\nexit 3\n");
    await Promise.all(["etcd", "kube-apiserver"].map((name) => chmod(join(fake, name), 0o755)));

    const assets = await findAssets({ env: { KUBEBUILDER_ASSETS: fake } });
    const error = await startCluster({ assets }).catch((error: Error) => error);
    const message = error instanceof Error ? error.message : "it started";
    const [, log = ""] =
      /^Cannot start kube-apiserver: it exited \(exit code 3\) before it was ready\. The end of (\S+):\nno such luck$/.exec(
        message,
      ) ?? [];
    expect(log, message).not.toBe("");
    expect(await processesThatMention(dirname(log))).toEqual([]);
    // The message refers to the log, so it must exist.
    expect(await readFile(log, "utf8")).toBe("no such luck\n");
    await rm(dirname(log), { recursive: true });
  });
});

function runUp(args: string[]) {
  const script = fileURLToPath(new URL("./up.mjs", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (!child.stdout || !child.stderr) throw new Error("no pipes");
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const firstLine = Promise.race([
    once(lines, "line").then(([line]) => line as string),
    exited.then(() => Promise.reject(new Error(stderr))),
  ]);
  return { child, exited, firstLine, stderr: () => stderr };
}

async function runningOf(pids: number[]): Promise<number[]> {
  const running = await Promise.all(pids.map(isRunning));
  return pids.filter((_, index) => running[index]);
}

async function processesThatMention(text: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return pids.filter((_, index) => lines[index]?.includes(text));
}
