// @ts-check
/** One run on one target: starts the replicas, injects faults, and stops everything. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { freePorts } from "../kube/ports.mjs";
import { describe } from "../processes/run/survivors.mjs";
import { FakeClock, findFaketime, howToGetFaketime } from "./faketime.mjs";
import { clockSteps, faults } from "./faults.mjs";
import { HistoryFile } from "./history/history.mjs";
import { TcpProxy } from "./proxy.mjs";
import { RegisterProcess } from "./register/process.mjs";
import { kinds } from "./replica/kinds.mjs";
import { Replica } from "./replica/replica.mjs";
import { targets } from "./targets.mjs";

/**
 * @typedef {object} Options
 * @property {string} targetName
 * @property {number} minutes
 * @property {number} seed
 * @property {number} count of replicas
 * @property {string} historyPath
 * @property {import("./recording.mjs").ChaosRecording | undefined} recording
 * @property {(text: string) => void} log
 */

/** Short, so that many terms fit into a minute. */
const timings = { leaseDuration: "3s", renewDeadline: "2s", retryPeriod: "400ms" };
const leaseMs = 3_000;
const name = "chaos";
/** A watchdog keeps killing for a second after its supervisor has exited. */
const orphanMs = 5_000;
/** A deadline, not a pace: a busy machine may need several attempts. */
const recoverMs = 60_000;
/** More than those of a leader that is about to stop. */
const workingWrites = 50;
const progressEveryMs = 60_000;

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

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

/** @param {Options} options @returns {Promise<import("./report.mjs").Observed>} */
export async function runChaos({ targetName, minutes, seed, count, historyPath, recording, log }) {
  const random = seeded(seed);
  const faketime = findFaketime();
  if (!faketime) log(`clocks are not changed: ${howToGetFaketime}`);
  const folder = await mkdtemp(join(tmpdir(), "tenure-chaos-"));
  const history = new HistoryFile(historyPath);
  history.append({ kind: "run", target: targetName, seed, replicas: count, leaseMs });
  const target = await /** @type {() => Promise<import("./targets.mjs").Target>} */ (targets[targetName])();
  const register = new RegisterProcess(historyPath);
  /** @type {import("./objects/load.mjs").ObjectLoad | undefined} */
  let load;
  /** @type {Replica[]} */
  const replicas = [];
  /** @type {Record<string, number>} */
  const faultCounts = {};
  const killAll = () => {
    for (const replica of replicas) replica.kill();
  };
  // No replica outlives a test that ends early.
  process.once("exit", killAll);
  try {
    await register.ready();
    await makeReplicas();
    for (const replica of replicas) replica.start();
    load = target.startLoad?.(history);
    await injectFaults();
    log("all faults have ended; waiting for the replicas to recover");
    for (const { clock } of replicas) clock?.set(0);
    const hasLeader = await recovers();
    await load?.finish();
    for (const replica of replicas) await replica.close();
    const left = (await Promise.all(replicas.map((replica) => replica.remains(orphanMs)))).flat();
    await register.readAll(history);
    const growths = replicas.flatMap(({ usages }) => usages.flatMap((usage) => usage.growth() ?? []));
    return { faults: faultCounts, orphans: left.map(describe), growths, hasLeader };
  } finally {
    for (const replica of replicas) {
      replica.proxy.close();
      await replica.close();
    }
    process.off("exit", killAll);
    await load?.close();
    await recording?.stopWatching();
    register.close();
    history.close();
    await target.stop();
    await rm(folder, { recursive: true, force: true });
  }

  async function makeReplicas() {
    const { port } = new URL(target.server);
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      TENURE_CHAOS_HISTORY: historyPath,
      TENURE_CHAOS_PORT: String(register.port),
    };
    for (const [index, proxyPort] of (await freePorts(count)).entries()) {
      const proxy = new TcpProxy(...target.addresses);
      await proxy.listen(proxyPort);
      const kubeconfig = join(folder, `kubeconfig-${index}`);
      const throughProxy = target.server.replace(`:${port}`, `:${proxyPort}`);
      await writeFile(kubeconfig, target.kubeconfig.replaceAll(target.server, throughProxy), { mode: 0o600 });
      // Some use a shared watch of all Leases, like a process with many elections.
      const lockUrl = target.lockUrl?.(proxyPort);
      const setup = { name, kubeconfig, lockUrl, sharesWatch: index % 4 === 0, timings, folder };
      const clock = faketime ? new FakeClock(faketime, join(folder, `clock-${index}`)) : undefined;
      const kind = /** @type {import("./replica/kinds.mjs").Kind} */ (kinds[index % kinds.length]);
      replicas.push(new Replica({ name: `r${index}`, kind, setup, proxy, history, env, log, clock }));
      log(`r${index}: ${kind.title}`);
    }
  }

  /** Injects faults for the given time, then waits until every fault has ended. */
  async function injectFaults() {
    const adminConfig = join(folder, "kubeconfig-admin");
    await writeFile(adminConfig, target.kubeconfig, { mode: 0o600 });
    recording?.start(target.lockUrl ? undefined : adminConfig);
    const admin = new KubeClient(() => loadConfig({ kubeconfig: adminConfig }));
    const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
    const deleteLock = target.deleteLock ?? (() => admin.request({ method: "DELETE", path }));
    const world = {
      replicas,
      leaseMs,
      // The server may be down.
      deleteLease: () => deleteLock(name).then(ignore, ignore),
    };
    const context = { random, leaseMs, history, forgetTokens: () => register.forgetTokens() };
    const names = Object.keys(faults).filter((fault) => faketime !== undefined || fault !== clockSteps);
    const all = [...names, ...Object.keys(target.faults)];
    const startedMs = performance.now();
    const endMs = startedMs + minutes * 60_000;
    const progress = setInterval(() => {
      const passed = (performance.now() - startedMs) / 60_000;
      log(
        `${passed.toFixed(0)} of ${minutes} min, ${Object.values(faultCounts).reduce((a, b) => a + b, 0)} faults`,
      );
    }, progressEveryMs);
    /** @type {Set<Promise<unknown>>} */
    const active = new Set();
    let serverFault = "";
    await wait(leaseMs + 2_000);
    while (performance.now() < endMs) {
      await wait(random() * leaseMs);
      const fault = /** @type {string} */ (all[Math.floor(random() * all.length)]);
      if (!replicas.some((replica) => replica.isAlive)) continue;
      const ofServer = target.faults[fault];
      if (ofServer && serverFault) continue;
      if (ofServer) serverFault = fault;
      const { detail, done } = ofServer
        ? { detail: "", done: ofServer(context) }
        : /** @type {import("./faults.mjs").Fault} */ (faults[fault])(world, random);
      faultCounts[fault] = (faultCounts[fault] ?? 0) + 1;
      log(`${fault} ${detail}`);
      recording?.note(`${fault} ${detail}`.trim());
      if (!done) continue;
      const ended = done
        .catch((error) => log(`${fault} failed: ${error.message}`))
        .finally(() => {
          active.delete(ended);
          if (serverFault === fault) serverFault = "";
        });
      active.add(ended);
    }
    await Promise.all(active);
    clearInterval(progress);
    admin.close();
  }

  /** Whether somebody works again. */
  async function recovers() {
    const before = await register.writes();
    for (const endMs = performance.now() + recoverMs; performance.now() < endMs; await wait(250))
      if ((await register.writes()) >= before + workingWrites) return true;
    return false;
  }
}

function ignore() {}
