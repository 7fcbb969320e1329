// @ts-check
/** `npm run chaos`: injects faults into real processes, and observes them with an independent witness. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { freePorts } from "../kube/ports.mjs";
import { FakeClock, findFaketime, howToGetFaketime } from "./faketime.mjs";
import { clockSteps, faults } from "./faults.mjs";
import { describeGrowth, isLeak, mostDescriptors, mostMegabytes } from "./leaks.mjs";
import { TcpProxy } from "./proxy.mjs";
import { isRunning, Replica } from "./replica.mjs";
import { targets } from "./targets.mjs";
import { Witness } from "./witness.mjs";

const usage = `Usage: npm run chaos -- [--minutes M] [--target sandbox|kube] [--seed S] [--replicas N]

Runs N replicas (default 5) whose work is a child process, and injects random faults: kill -9, freezes, a blocked event
loop, a slow, reset or partitioned network, restarts of the API server, deleted leases, and clock changes (if libfaketime is
installed). The seed determines the faults.
An independent witness reports overlaps, the order of tokens, times without a leader, orphaned processes and leaks.
The exit code is 1 on any overlap, token out of order, orphan or leak, and if there is no leader at the end.
`;

/** Short, so that many terms fit into a minute. */
const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "400ms" };
const leaseMs = 3_000;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    target: { type: "string", default: "sandbox" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    replicas: { type: "string", default: "5" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const minutes = positive("minutes");
const seed = positive("seed");
const count = positive("replicas");
const startTarget = targets[values.target];
if (!startTarget) fail(`--target must be one of ${Object.keys(targets).join(", ")}: ${values.target}`);

/** @param {"minutes" | "seed" | "replicas"} name */
function positive(name) {
  const value = Number(values[name]);
  if (!(value > 0) || !Number.isFinite(value))
    fail(`--${name} must be a number greater than 0: ${values[name]}`);
  return value;
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`${message}. \`npm run chaos -- --help\` lists the options.`);
  process.exit(2);
}

/** mulberry32, as in the simulator. @param {number} from */
function seeded(from) {
  let state = from >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const startedMs = performance.now();
const log = (/** @type {string} */ text) =>
  console.error(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)}s  ${text}`);
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
const random = seeded(seed);
const faketime = findFaketime();

log(`seed ${seed}, ${minutes} min on ${values.target}, ${count} replicas`);
if (!faketime) log(`clocks are not changed: ${howToGetFaketime}`);
const folder = await mkdtemp(join(tmpdir(), "tenure-chaos-"));
const target = await startTarget();
const witness = new Witness();
/** @type {Replica[]} */
const replicas = [];
/** @type {Record<string, number>} */
const faultCounts = {};
let exitCode = 1;
try {
  const witnessPort = await witness.listen();
  const { hostname: host, port } = new URL(target.server);
  const ports = await freePorts(count);
  for (const [index, proxyPort] of ports.entries()) {
    const proxy = new TcpProxy({ host, port: Number(port) });
    await proxy.listen(proxyPort);
    const kubeconfig = join(folder, `kubeconfig-${index}`);
    const through = target.kubeconfig.replaceAll(
      target.server,
      target.server.replace(`:${port}`, `:${proxyPort}`),
    );
    await writeFile(kubeconfig, through, { mode: 0o600 });
    // Every second replica uses a shared watch of all Leases, like a process with many elections.
    const setup = { name: "chaos", kubeconfig, sharesWatch: index % 2 === 0, witnessPort, timings };
    const clock = faketime ? new FakeClock(faketime, join(folder, `clock-${index}`)) : undefined;
    replicas.push(new Replica(`r${index}`, proxy, setup, log, clock));
  }
  const adminConfig = join(folder, "kubeconfig-admin");
  await writeFile(adminConfig, target.kubeconfig, { mode: 0o600 });
  const admin = new KubeClient(() => loadConfig({ kubeconfig: adminConfig }));
  const world = {
    replicas,
    leaseMs,
    restartApi: () => target.restart(random),
    deleteLease: () =>
      admin
        .request({ method: "DELETE", path: "/apis/coordination.k8s.io/v1/namespaces/default/leases/chaos" })
        .then(
          () => {},
          () => {},
        ),
  };
  for (const replica of replicas) replica.start();
  await injectFaults(world);
  log("all faults have ended; waiting for the replicas to recover");
  for (const { clock } of replicas) clock?.set(0);
  await wait(3 * leaseMs + 3_000);
  admin.close();
  for (const replica of replicas) await replica.close();
  exitCode = report();
} finally {
  for (const replica of replicas) {
    replica.proxy.close();
    await replica.close();
  }
  witness.close();
  await target.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(exitCode);

/**
 * Injects faults for the given time, then waits until every fault has ended.
 * @param {import("./faults.mjs").World} world
 */
async function injectFaults(world) {
  const names = Object.keys(faults).filter((name) => faketime !== undefined || name !== clockSteps);
  const endMs = performance.now() + minutes * 60_000;
  /** @type {Set<Promise<unknown>>} */
  const active = new Set();
  await wait(leaseMs + 2_000);
  let restarting = false;
  while (performance.now() < endMs) {
    await wait(random() * leaseMs);
    const name = /** @type {string} */ (names[Math.floor(random() * names.length)]);
    if (!replicas.some((replica) => replica.isAlive)) continue;
    if (name === "restart the API server") {
      if (restarting) continue;
      restarting = true;
    }
    const { detail, done } = /** @type {import("./faults.mjs").Fault} */ (faults[name])(world, random);
    faultCounts[name] = (faultCounts[name] ?? 0) + 1;
    log(`${name} ${detail}`);
    if (!done) continue;
    const ended = done
      .catch((error) => log(`${name} failed: ${error.message}`))
      .finally(() => {
        active.delete(ended);
        if (name === "restart the API server") restarting = false;
      });
    active.add(ended);
  }
  await Promise.all(active);
}

function report() {
  const { overlaps, disorder } = witness.findings();
  const terms = witness.terms;
  const gaps = witness.gaps().sort((a, b) => a - b);
  const at = (/** @type {number} */ part) =>
    Math.round(gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0);
  const orphans = replicas.flatMap((replica) => replica.pids).filter(isRunning);
  const last = terms.at(-1);
  const [seconds, nanos] = process.hrtime();
  const sinceLastMs = last ? seconds * 1_000 + nanos / 1e6 - last.lastMs : Number.POSITIVE_INFINITY;
  const hasLeader = sinceLastMs < 3 * leaseMs;
  console.log(`target        ${values.target}, seed ${seed}, ${minutes} min, ${count} replicas`);
  console.log(
    `faults        ${Object.entries(faultCounts)
      .map(([name, times]) => `${name} ${times}`)
      .join(", ")}`,
  );
  console.log(`terms         ${terms.length}, ${witness.steps} steps of work`);
  console.log(
    `no leader     p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms (lease ${leaseMs} ms)`,
  );
  console.log(`overlaps      ${overlaps.length}`);
  console.log(`token order   ${disorder.length} out of order`);
  console.log(`orphans       ${orphans.length}`);
  console.log(`leader at end ${hasLeader ? "yes" : "no"}`);
  if (!faketime) console.log(`clock changes none: ${howToGetFaketime}`);
  const growths = replicas.flatMap(({ usages }) => usages.flatMap((usage) => usage.growth() ?? []));
  const leaks = growths.filter(isLeak);
  console.log(
    `leaks         ${leaks.length} of ${growths.length} processes that lived long enough ` +
      `(more than +${mostDescriptors} descriptors or +${mostMegabytes} MB)`,
  );
  for (const growth of growths) console.log(`process       ${describeGrowth(growth)}`);
  for (const { text } of [...overlaps, ...disorder]) console.log(`VIOLATION     ${text}`);
  for (const leak of leaks) console.log(`VIOLATION     leak in ${describeGrowth(leak)}`);
  return overlaps.length + disorder.length + orphans.length + leaks.length === 0 && hasLeader ? 0 : 1;
}
