// Measures the sandbox, and a real kube-apiserver for comparison if TENURE_CONFORMANCE_KUBECONFIG is set.
//   npm run build && node bench/sandbox.mjs [--updates 100000] [--objects 100000] [--pods 200]
// The sandbox runs as a separate process, over TLS, from the bundles that users install. One run takes about four minutes.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { measureCluster, measurePages } from "./lib/cluster.mjs";

const main = fileURLToPath(new URL("../packages/cli/bin/tenure.cjs", import.meta.url));
const library = new URL("../packages/sandbox/bundle/index.js", import.meta.url).href;
const flag = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at > 0 ? Number(process.argv[at + 1]) : otherwise;
};
const MEMORY_UPDATES = flag("updates", 100_000);
const OBJECTS = flag("objects", 100_000);
const PODS = flag("pods", 200);
const home = mkdtempSync(join(tmpdir(), "tenure-bench-"));

const percentile = (values, part) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const ms = (value) => `${value.toFixed(1)} ms`;
const print = (name, sandbox, real = "") => console.log(`${name.padEnd(46)}${sandbox.padEnd(26)}${real}`);

/** Reads the kubeconfigs of the sandbox and of test/kube: each has one cluster and one token. */
function client(kubeconfig) {
  const text = readFileSync(kubeconfig, "utf8");
  const value = (key) => new RegExp(`${key}: "?([^"\\n]+)"?`).exec(text)[1];
  const { hostname, port } = new URL(value("server"));
  const ca = Buffer.from(value("certificate-authority-data"), "base64");
  const headers = { Authorization: `Bearer ${value("token")}`, "Content-Type": "application/json" };
  const open = (agent, method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request({ hostname, port, ca, agent, method, path, headers }, resolve);
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const connection = () => new Agent({ keepAlive: true, maxSockets: 1, ca });
  async function call(agent, method, path, body) {
    const response = await open(agent, method, path, body);
    let answer = "";
    response.setEncoding("utf8");
    for await (const chunk of response) answer += chunk;
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${answer}`);
    return JSON.parse(answer);
  }
  return { open, call, connection };
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** Renews a lease as fast as possible, on one connection. */
async function renew({ call, connection }, name, count) {
  const agent = connection();
  await call(agent, "DELETE", `${leases}/${name}`).catch(() => {});
  let lease = await call(agent, "POST", leases, {
    metadata: { name },
    spec: { holderIdentity: "x", leaseDurationSeconds: 15 },
  });
  const times = [];
  for (let index = 0; index < count; index++) {
    const spec = {
      ...lease.spec,
      renewTime: `${new Date().toISOString().slice(0, -1)}000Z`,
      leaseTransitions: index,
    };
    const before = performance.now();
    lease = await call(agent, "PUT", `${leases}/${name}`, { ...lease, spec });
    times.push(performance.now() - before);
  }
  agent.destroy();
  return times;
}

async function updates(target, connections, count) {
  const before = performance.now();
  const times = (
    await Promise.all(
      Array.from({ length: connections }, (_, index) => renew(target, `bench-${index}`, count)),
    )
  ).flat();
  const perSecond = times.length / ((performance.now() - before) / 1000);
  return `${Math.round(perSecond)} /s, p50 ${ms(percentile(times, 0.5))}`;
}

/** The time from sending a write until the last watcher has its event. */
async function fanOut(target, watchers, count) {
  const agent = target.connection();
  await target.call(agent, "DELETE", `${leases}/fan`).catch(() => {});
  let lease = await target.call(agent, "POST", leases, {
    metadata: { name: "fan" },
    spec: { leaseTransitions: 0 },
  });
  let arrived = 0;
  let all = () => {};
  const query = `?watch=1&fieldSelector=metadata.name%3Dfan&resourceVersion=${lease.metadata.resourceVersion}`;
  const streams = await Promise.all(
    Array.from({ length: watchers }, () => target.open(target.connection(), "GET", leases + query)),
  );
  for (const stream of streams) {
    stream.on("error", () => {});
    stream.on("data", (chunk) => {
      for (const byte of chunk) if (byte === 10) arrived++;
      if (arrived >= watchers) all();
    });
  }
  const times = [];
  for (let index = 1; index <= count; index++) {
    arrived = 0;
    const done = new Promise((resolve) => {
      all = resolve;
    });
    const before = performance.now();
    lease = await target.call(agent, "PUT", `${leases}/fan`, { ...lease, spec: { leaseTransitions: index } });
    await done;
    times.push(performance.now() - before);
  }
  for (const stream of streams) stream.destroy();
  agent.destroy();
  return `p50 ${ms(percentile(times, 0.5))}, p95 ${ms(percentile(times, 0.95))}`;
}

/** Measures in a new process, because the second start in a process is faster. */
function startTime() {
  const script = `const t0 = performance.now(); const { startSandbox } = await import(${JSON.stringify(library)}); const t1 = performance.now();
    const sandbox = await startSandbox(); console.log(t1 - t0, performance.now() - t1); await sandbox.close();`;
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.on("close", () => resolve(out.trim().split(" ").map(Number)));
  });
}

const residentMegabytes = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

const starts = [];
for (let index = 0; index < 7; index++) starts.push(await startTime());
const kubeconfig = join(home, "kubeconfig");
const child = spawn(process.execPath, [main, "sandbox", "--port", "0", "--kubeconfig-out", kubeconfig], {
  stdio: ["ignore", "pipe", "inherit"],
});
await new Promise((resolve) => child.stdout.once("data", resolve));

try {
  const sandbox = client(kubeconfig);
  const realPath = process.env.TENURE_CONFORMANCE_KUBECONFIG;
  const real = realPath ? client(realPath) : undefined;
  print("", "sandbox", real ? "kube-apiserver" : "(kube-apiserver: set TENURE_CONFORMANCE_KUBECONFIG)");
  print(
    "import of the library, median of 7",
    ms(
      percentile(
        starts.map(([load]) => load),
        0.5,
      ),
    ),
  );
  print(
    "startSandbox(), median of 7",
    ms(
      percentile(
        starts.map(([, start]) => start),
        0.5,
      ),
    ),
  );
  // V8 and Go's garbage collector reach their pace after some thousand updates.
  for (const target of real ? [sandbox, real] : [sandbox]) await updates(target, 10, 500);
  for (const { connections, count } of [
    { connections: 1, count: 3_000 },
    { connections: 10, count: 1_000 },
  ]) {
    print(
      `lease updates, ${connections} connection(s)`,
      await updates(sandbox, connections, count),
      real ? await updates(real, connections, count) : "",
    );
  }
  print(
    "write until 100 watchers have it",
    await fanOut(sandbox, 100, 200),
    real ? await fanOut(real, 100, 200) : "",
  );
  const pages = await measurePages(sandbox, OBJECTS);
  const realPages = real ? await measurePages(real, OBJECTS) : undefined;
  const page = (times) => `p50 ${ms(percentile(times, 0.5))}, p95 ${ms(percentile(times, 0.95))}`;
  print(`a page of 500 out of ${OBJECTS} objects`, page(pages), realPages ? page(realPages) : "");
  for (let done = 0; done < MEMORY_UPDATES; done += MEMORY_UPDATES / 4) {
    await Promise.all([0, 1, 2, 3].map((index) => renew(sandbox, `memory-${index}`, MEMORY_UPDATES / 16)));
    print(
      `memory after ${done + MEMORY_UPDATES / 4} updates`,
      `${residentMegabytes(child.pid).toFixed(0)} MB`,
    );
  }
  child.kill();
  const cluster = await measureCluster(main, client, PODS);
  print("process start until the API answers", ms(cluster.apiMs));
  print("process start until three nodes are Ready", ms(cluster.nodesMs));
  print("Deployment until three pods are Ready", ms(cluster.threeMs));
  print(`Deployment until ${PODS} pods are Ready`, ms(cluster.manyMs));
  print(`memory with ${PODS} pods`, `${cluster.resident.toFixed(0)} MB`);
} finally {
  child.kill();
  rmSync(home, { recursive: true, force: true });
}
