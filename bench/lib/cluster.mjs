// Measures the cluster in the sandbox: nodes, pods and long lists. Used by bench/sandbox.mjs.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const pollMs = 5;
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Asks until the answer is as expected, and returns how long that took. */
async function until(ask, isExpected, withinMs = 120_000) {
  const before = performance.now();
  for (;;) {
    if (isExpected(await ask())) return performance.now() - before;
    if (performance.now() - before > withinMs) throw new Error("It took too long");
    await delay(pollMs);
  }
}

const isReady = ({ status }) =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");

/** A Deployment of a program that starts at once. */
const deployment = (name, replicas) => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [{ name: "main", image: "sleep", args: ["infinity"] }],
      },
    },
  },
});

/** Starts `tenure sandbox --nodes 3` as users do, and measures from the start of the process. */
export async function measureCluster(main, client, pods) {
  const home = mkdtempSync(join(tmpdir(), "tenure-bench-cluster-"));
  const kubeconfig = join(home, "kubeconfig");
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [main, "sandbox", "--port", "0", "--nodes", "3", "--kubeconfig-out", kubeconfig],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    await until(
      async () => {
        try {
          return readFileSync(kubeconfig, "utf8");
        } catch {
          return "";
        }
      },
      (text) => text.includes("token:"),
    );
    const { call, connection } = client(kubeconfig);
    const agent = connection();
    const apiMs = performance.now() - startedMs;
    const get = (path) => call(agent, "GET", path);
    await until(
      () => get("/api/v1/nodes"),
      ({ items }) => items.filter(isReady).length === 3,
    );
    const nodesMs = performance.now() - startedMs;
    const ready = (name, count) =>
      until(
        () => get(`${deployments}/${name}`),
        ({ status }) => (status?.readyReplicas ?? 0) === count,
      );
    await call(agent, "POST", deployments, deployment("three", 3));
    const threeMs = await ready("three", 3);
    await call(agent, "POST", deployments, deployment("many", pods));
    const manyMs = await ready("many", pods);
    const resident =
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))[1]) / 1024;
    agent.destroy();
    return { apiMs, nodesMs, threeMs, manyMs, resident };
  } finally {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await exited;
    rmSync(home, { recursive: true, force: true });
  }
}

/** The time for a page of 500 out of many ConfigMaps: the first page, and one in the middle. */
export async function measurePages({ call, connection }, count) {
  const writers = Array.from({ length: 8 }, () => connection());
  await Promise.all(
    writers.map(async (agent, writer) => {
      for (let index = writer; index < count; index += writers.length)
        await call(agent, "POST", configMaps, {
          metadata: { name: `page-${String(index).padStart(7, "0")}` },
        });
      agent.destroy();
    }),
  );
  const agent = connection();
  const times = [];
  for (let page = 0, token = ""; page < 20; page++) {
    const before = performance.now();
    const { metadata } = await call(
      agent,
      "GET",
      `${configMaps}?limit=500&continue=${encodeURIComponent(token)}`,
    );
    times.push(performance.now() - before);
    token = metadata.continue ?? "";
  }
  agent.destroy();
  return times;
}
