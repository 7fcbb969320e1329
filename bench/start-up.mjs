// @ts-check
// Measures how long the command takes to start, compared with bare node: `tenure --version` until it exits, and `tenure run` until its
// child runs, on a Lease that does not exist yet, against a sandbox in another process: with the credentials of a pod, and with a
// kubeconfig, which takes longer to read.
//   node bench/start-up.mjs [RUNS] [--check]
// Each figure is the median over new processes; the programs take turns. With --check it exits with 1 if a target is missed.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { jsonLine, markdownTable } from "./lib/figures.mjs";
import { median } from "./lib/statistics.mjs";

const runs = Number(process.argv.slice(2).find((word) => !word.startsWith("-")) ?? 21);
if (!Number.isSafeInteger(runs) || runs < 1) {
  console.error(`RUNS must be a whole number, at least 1: ${process.argv[2]}`);
  process.exit(2);
}
/** What `tenure run` cannot do without, in a pod. */
const leastProgram = `
const { spawn } = require("node:child_process");
spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
const { readFileSync } = require("node:fs");
const https = require("node:https");
const read = (file) => readFileSync(process.env.TENURE_SERVICEACCOUNT_DIR + "/" + file, "utf8");
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
const agent = new https.Agent({ keepAlive: true, ca: read("ca.crt") });
const headers = { authorization: "Bearer " + read("token"), "content-type": "application/json" };
const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const name = process.argv[1];
const ask = (method, path, body) =>
  new Promise((resolve, reject) => {
    const request = https.request({ host, port, agent, headers, method, path }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode));
    });
    request.on("error", reject);
    request.end(body);
  });
ask("GET", path + "/" + name)
  .then(() => ask("POST", path, JSON.stringify({ metadata: { name }, spec: {} })))
  .then((status) => {
    if (status !== 201) process.exit(1);
    spawn("date", ["+%s%N"], { stdio: "inherit" }).on("exit", () => process.exit());
  });
`;

const tenure = fileURLToPath(new URL("../packages/cli/bin/tenure.cjs", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "tenure-start-up-"));
const kubeconfig = join(folder, "kubeconfig");
const sandbox = spawn(process.execPath, [tenure, "sandbox", "--port", "0", "--kubeconfig-out", kubeconfig], {
  stdio: ["ignore", "pipe", "inherit"],
});
/** @type {Record<"bare" | "version" | "least" | "pod" | "child" | "requests", number[]>} */
const samples = { bare: [], version: [], least: [], pod: [], child: [], requests: [] };
try {
  await new Promise((resolve) => sandbox.stdout.once("data", resolve));
  const pod = await credentialsOfPod();
  for (let run = 0; run < runs; run++) {
    samples.bare.push(exited("-e", "0"));
    samples.version.push(exited(tenure, "--version"));
    samples.least.push(timeUntilDate(["-e", leastProgram, `least-${run}`], pod));
    samples.pod.push(childStarted(`pod-${run}`, [], pod));
    samples.child.push(childStarted(`start-${run}`, ["--kubeconfig", kubeconfig]));
    samples.requests.push(await requests(`requests-${run}`));
  }
} finally {
  sandbox.kill();
  await rm(folder, { recursive: true, force: true });
}
const bare = median(samples.bare);
/** @type {import("./lib/figures.mjs").Figure[]} */
const figures = [
  {
    scenario: "start-up",
    figure: "`tenure --version`, start to exit, p50",
    unit: "ms",
    ours: median(samples.version),
    floor: bare,
    atMost: 1.4 * bare,
    samples: runs,
  },
  ...[
    { figure: "`tenure run` in a pod until its child runs, p50", ours: median(samples.pod) },
    { figure: "`tenure run --kubeconfig` until its child runs, p50", ours: median(samples.child) },
  ].map((each) => ({
    ...each,
    scenario: "start-up",
    unit: "ms",
    floor: median(samples.least),
    atMost: 2 * bare + median(samples.requests),
    samples: runs,
    note:
      "the floor is a few lines of Node that start a second Node, read a Lease, create it and start the child; the target is twice `node " +
      "-e 0` plus a new connection, a read and a write of a Lease by a process that runs already",
  })),
];
console.log(figures.map(jsonLine).join("\n"));
console.log(`\nnode ${process.version}\n\n${markdownTable(figures)}`);
const isMissed = figures.some(({ ours = 0, atMost = 0 }) => ours > atMost);
if (process.argv.includes("--check") && isMissed) process.exitCode = 1;

/** @param {...string} args */
function exited(...args) {
  const startedMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - startedMs;
}

/** @param {string} name @param {readonly string[]} connection @param {Record<string, string>} [env] */
function childStarted(name, connection, env) {
  const flags = ["run", ...connection, "--lease-lock-name", name, "--on-exit", "exit"];
  return timeUntilDate([tenure, ...flags, "--", "date", "+%s%N"], env);
}

/** The program starts `date`, which prints the time. @param {readonly string[]} args @param {Record<string, string>} [env] */
function timeUntilDate(args, env) {
  const startedMs = performance.timeOrigin + performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout.trim()) / 1e6 - startedMs;
}

/** What a kubelet gives to a pod. @returns {Promise<Record<string, string>>} its environment */
async function credentialsOfPod() {
  const { server, ca = "", credentials } = await loadConfig({ kubeconfig });
  const { authorization = "" } = await credentials.headers();
  const files = { token: `${authorization}`.replace("Bearer ", ""), "ca.crt": ca, namespace: "default" };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { hostname, port } = new URL(server);
  return {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    TENURE_SERVICEACCOUNT_DIR: folder,
  };
}

/** What a candidate asks of the API before it leads. @param {string} name */
async function requests(name) {
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const startedMs = performance.now();
  await client.request({ method: "GET", path: `${path}/${name}` }).catch(() => {});
  await client.request({ method: "POST", path, body: { metadata: { name }, spec: {} } });
  const tookMs = performance.now() - startedMs;
  client.close();
  return tookMs;
}
