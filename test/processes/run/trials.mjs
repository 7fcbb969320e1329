// @ts-check
/** `npm run trials`: tests the guarantees of `tenure run` many times with real processes, and measures the times from outside. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startSandbox } from "@tenure/sandbox";
import { TcpProxy } from "../../chaos/proxy.mjs";
import { freePorts } from "../../kube/ports.mjs";
import { childrenOf, watchdogsOf } from "./survivors.mjs";
import { replicas, TrialReplica } from "./trial-replica.mjs";
import { Tree, trees } from "./trial-tree.mjs";

const usage = `Usage: npm run trials -- [--runs N] [--at-once K] [--idle-seconds S] [--only group,…]

  cut       the leader loses its connection: the child and its descendants exit before the hard deadline  N runs (200)
  frozen    the leader gets SIGSTOP: the child and its descendants exit before the hard deadline          N / 4 runs
  killed    the leader gets SIGKILL: the child and its descendants exit within a second                   N / 2 runs
  handover  the leader gets SIGTERM: the next child runs within 100 ms after the first one stopped        N / 8 runs
  idle      memory and CPU of a leading supervisor and of its watchdog                                    S seconds (30)

Exits with 1 if a run missed its limit.
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    "at-once": { type: "string", default: "4" },
    "idle-seconds": { type: "string", default: "30" },
    only: { type: "string", default: "cut,frozen,killed,handover,idle" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const runs = positive("runs");
const atOnce = positive("at-once");
const idleSeconds = positive("idle-seconds");

/** @param {"runs" | "at-once" | "idle-seconds"} name */
function positive(name) {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value > 0) return value;
  console.error(`--${name} must be a whole number of 1 or more, but is ${values[name]}`);
  process.exit(2);
}

/** Short, so that many trials fit into a minute. The hard deadline is 1.88 s after a renewal was sent. */
const timings = ["--lease-duration", "2s", "--renew-deadline", "1.2s", "--retry-period", "300ms"];
const quiet = ["--log-leader-every", "0s", "--log-format", "json"];
const hardDeadlineMs = 1_880;
const killedWithinMs = 1_000;
const handoverWithinMs = 100;
const mostMegabytes = 60;
const mostCpuPercent = 0.2;
const settleMs = 30_000;

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const folder = await mkdtemp(join(tmpdir(), "tenure-trials-"));
const sandbox = await startSandbox();
const { hostname: host, port } = new URL(sandbox.url);
const direct = join(folder, "kubeconfig");
await writeFile(direct, sandbox.kubeconfig, { mode: 0o600 });
const client = new KubeClient(() => loadConfig({ kubeconfig: direct }));
let count = 0;

/** When the last renewal of this lock was sent, in milliseconds since 1970. @param {string} name */
async function renewedAt(name) {
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  const lease = await client.request({ method: "GET", path });
  return Date.parse(/** @type {{ spec: { renewTime: string } }} */ (lease).spec.renewTime);
}

/**
 * A leader with its tree, running.
 * @param {{ name?: string, id?: string, kubeconfig?: string, child?: string[], flags?: string[] }} [setup]
 */
async function startReplica({
  name = `trial-${++count}`,
  id = "a",
  kubeconfig = direct,
  child = trees.stubborn,
  flags = timings,
} = {}) {
  const tree = new Tree(folder);
  await tree.make();
  const setup = { kubeconfig, name, id, pipe: tree.path, child, flags: [...flags, ...quiet] };
  return { name, tree, replica: new TrialReplica(setup) };
}

/** @param {Awaited<ReturnType<typeof startReplica>>} started */
async function leads({ replica, tree }) {
  await replica.logged("child-started");
  await tree.timeOf("up");
}

/** Waits for a time that differs between runs, so that they hit different moments between two renewals. @param {number} index */
const someTime = (index) => wait((index * 137) % 900);

/** @param {number} index */
async function cut(index) {
  const proxy = new TcpProxy({ host, port: Number(port) });
  const [proxyPort = 0] = await freePorts(1);
  await proxy.listen(proxyPort);
  const kubeconfig = join(folder, `kubeconfig-${index}`);
  await writeFile(kubeconfig, sandbox.kubeconfig.replaceAll(`:${port}`, `:${proxyPort}`), { mode: 0o600 });
  const started = await startReplica({ kubeconfig });
  try {
    await leads(started);
    await someTime(index);
    proxy.setMode(index % 2 === 0 ? "refusing" : "black-hole");
    // By then, requests that were in flight at the cut have arrived or never will.
    await wait(300);
    const deadline = (await renewedAt(started.name)) + hardDeadlineMs;
    return { ms: (await started.tree.timeOf("end")) - deadline, limit: 0 };
  } finally {
    await started.replica.end();
    started.tree.close();
    proxy.close();
  }
}

/** @param {number} index */
async function frozen(index) {
  const started = await startReplica();
  try {
    await leads(started);
    await someTime(index);
    started.replica.kill("SIGSTOP");
    await wait(100);
    const deadline = (await renewedAt(started.name)) + hardDeadlineMs;
    const ms = (await started.tree.timeOf("end")) - deadline;
    await wait(500);
    started.replica.kill("SIGCONT");
    // The leader must notice by itself that it lost.
    await started.replica.logged("term-ended");
    return { ms, limit: 0 };
  } finally {
    await started.replica.end();
    started.tree.close();
  }
}

/** @param {number} index */
async function killed(index) {
  const started = await startReplica();
  try {
    await leads(started);
    await someTime(index);
    const sentAt = Date.now();
    started.replica.kill("SIGKILL");
    return { ms: (await started.tree.timeOf("end")) - sentAt, limit: killedWithinMs };
  } finally {
    await started.replica.end();
    started.tree.close();
  }
}

/** The time from SIGTERM until the next child runs, less the time that the first child took to stop. @param {number} index */
async function handover(index) {
  // With the default timings, so that a busy machine does not lose the lease.
  const setup = { child: trees.polite, flags: [] };
  const leader = await startReplica(setup);
  await leads(leader);
  const next = await startReplica({ ...setup, name: leader.name, id: "b" });
  try {
    await next.replica.logged("leader-changed", { leader: "a" });
    // Lets the standby finish its start, as one that has run for a while.
    await wait(1_000);
    await someTime(index);
    const sentAt = Date.now();
    leader.replica.kill("SIGTERM");
    const upAt = await next.tree.timeOf("up");
    const toldAt = await leader.tree.timeOf("told");
    const goneAt = await leader.tree.timeOf("gone");
    return { ms: upAt - sentAt - (goneAt - toldAt), limit: Number.POSITIVE_INFINITY };
  } finally {
    await leader.replica.end();
    await next.replica.end();
    leader.tree.close();
    next.tree.close();
  }
}

/** @param {number} pid CPU time in milliseconds */
async function cpuMs(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** @param {number} pid */
async function megabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}

/** With the default timings and logs. */
async function idle() {
  const started = await startReplica({ flags: [], child: trees.polite });
  try {
    await leads(started);
    const { pid } = started.replica;
    const [watchdog] = watchdogsOf(pid);
    const processes = { supervisor: pid, ...(watchdog === undefined ? {} : { watchdog }) };
    // Node keeps compiling and collecting garbage for a while after the start.
    await wait(settleMs);
    const startedMs = performance.now();
    const before = new Map();
    for (const pid of Object.values(processes)) before.set(pid, await cpuMs(pid));
    await wait(idleSeconds * 1_000);
    let isFine = watchdog !== undefined;
    for (const [name, of] of Object.entries(processes)) {
      const percent = (((await cpuMs(of)) - before.get(of)) / (performance.now() - startedMs)) * 100;
      const mb = await megabytes(of);
      const fits = mb <= mostMegabytes && percent <= mostCpuPercent;
      isFine &&= fits;
      console.log(
        `idle      ${name}: ${mb.toFixed(0)} MB (≤ ${mostMegabytes}), CPU ${percent.toFixed(2)} % (≤ ${mostCpuPercent})` +
          `${fits ? "" : "  MISSED"}`,
      );
    }
    if (watchdog === undefined)
      console.log(`idle      MISSED: no watchdog beside ${childrenOf(pid).join(", ")}`);
    return isFine;
  } finally {
    await started.replica.end();
    started.tree.close();
  }
}

/**
 * @param {string} name
 * @param {(index: number) => Promise<{ ms: number, limit: number }>} trial
 * @param {number} times
 * @param {string} what
 */
async function group(
  name,
  trial,
  times,
  what,
  { p50Limit = Number.POSITIVE_INFINITY, workers = atOnce } = {},
) {
  /** @type {number[]} */
  const results = [];
  /** @type {string[]} */
  const misses = [];
  let next = 0;
  const worker = async () => {
    while (next < times) {
      const index = next++;
      try {
        const { ms, limit } = await trial(index);
        results.push(ms);
        if (!(ms <= limit)) misses.push(`run ${index}: ${ms.toFixed(0)} ms`);
      } catch (error) {
        misses.push(`run ${index}: ${/** @type {Error} */ (error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, times) }, worker));
  results.sort((a, b) => a - b);
  const at = (/** @type {number} */ part) =>
    (results[Math.min(results.length - 1, Math.floor(results.length * part))] ?? Number.NaN).toFixed(0);
  const held = times - misses.length;
  if (!(Number(at(0.5)) <= p50Limit)) misses.push(`p50 is above ${p50Limit} ms`);
  console.log(
    `${name.padEnd(9)} ${held} of ${times}  ${what}: p50 ${at(0.5)}, p95 ${at(0.95)}, worst ${at(1)} ms`,
  );
  for (const miss of misses) console.log(`          MISSED ${miss}`);
  return misses.length === 0;
}

const part = (/** @type {number} */ of) => Math.max(1, Math.ceil(runs / of));
const toDeadline = "exit of the tree, relative to the hard deadline";
/** @type {Record<string, () => Promise<boolean>>} */
const groups = {
  cut: () => group("cut", cut, runs, toDeadline),
  frozen: () => group("frozen", frozen, part(4), toDeadline),
  killed: () => group("killed", killed, part(2), "SIGKILL to exit of the tree"),
  handover: () =>
    // One at a time, because parallel runs would falsify the time.
    group("handover", handover, part(8), "SIGTERM to next child, less the stop time", {
      p50Limit: handoverWithinMs,
      workers: 1,
    }),
  idle,
};

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await Promise.all([...replicas].map((replica) => replica.end()));
    await rm(folder, { recursive: true, force: true });
    process.exit(1);
  });
}

let isFine = true;
try {
  for (const name of values.only.split(",")) {
    const play = groups[name];
    if (!play) throw new Error(`--only must be one of ${Object.keys(groups).join(", ")}, but is ${name}`);
    isFine = (await play()) && isFine;
  }
} finally {
  for (const replica of replicas) await replica.end();
  client.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
process.exit(isFine ? 0 : 1);
