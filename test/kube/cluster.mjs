// @ts-check
/**
 * A real kube-apiserver with its etcd, on loopback, for as long as a test needs it.
 *
 * It has RBAC, service-account tokens and an admin. It has no controllers: a deleted namespace stays
 * Terminating, nothing makes a "default" ServiceAccount, and pods are records that nobody runs.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAssets } from "./assets.mjs";
import { kubeconfig, readServingCa, writeCredentials } from "./credentials.mjs";
import { startGuardian } from "./guardian.mjs";
import { freePorts } from "./ports.mjs";
import { startProcess } from "./process.mjs";
import { answersOk, PortTakenError, tail, untilReady } from "./ready.mjs";

/**
 * @typedef {object} ClusterOptions
 * @property {import("./assets.mjs").Assets} [assets] by default what findAssets() finds or builds
 * @property {string[]} [apiServerFlags] more flags for kube-apiserver; they win over ours
 * @property {number} [readyTimeoutMs] for each server, by default 60_000
 * @property {boolean} [keepFolder] leave the logs behind after stop(), by default not
 *
 * @typedef {object} RestartOptions
 * @property {NodeJS.Signals} [signal] SIGTERM drains, SIGKILL is a crash; by default "SIGTERM"
 * @property {boolean} [withEtcd] end etcd too, by default not
 *
 * @typedef {object} Cluster
 * @property {string} server URL of kube-apiserver; a restart keeps it
 * @property {string} etcdServer URL of etcd, plain HTTP without authentication; a restart keeps it
 * @property {string} caPem
 * @property {string} adminToken of the user admin in system:masters
 * @property {string} kubeconfigPath the admin's
 * @property {string} folder data, logs and credentials
 * @property {() => { kubeApiServer: number | undefined, etcd: number | undefined }} pids of what runs now
 * @property {() => number[]} startedPids of every process ever started for it, so that a test can prove them gone
 * @property {Promise<Error>} died resolves when a server ended that nobody asked to
 * @property {(options?: RestartOptions) => Promise<void>} stopApiServer
 * @property {() => Promise<void>} startApiServer starts what stopApiServer stopped, and waits until it is ready
 * @property {(options?: RestartOptions) => Promise<void>} restartApiServer
 * @property {() => Promise<void>} stop ends every process and removes the folder; a second call waits for the first
 */

/** Ports are chosen before they are used; this often somebody else may be faster. */
const portAttempts = 3;

/**
 * @param {ClusterOptions} [options]
 * @returns {Promise<Cluster>}
 */
export async function startCluster(options = {}) {
  const assets = options.assets ?? (await findAssets());
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start({ ...options, assets });
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === portAttempts) throw error;
    }
  }
}

/**
 * @param {ClusterOptions & { assets: import("./assets.mjs").Assets }} options
 * @returns {Promise<Cluster>}
 */
async function start({ assets, apiServerFlags = [], readyTimeoutMs = 60_000, keepFolder = false }) {
  const folder = await mkdtemp(join(tmpdir(), "tenure-kube-"));
  const guardian = await startGuardian(folder);
  const startedPids = [guardian.pid];
  if (keepFolder) guardian.keepFolder();

  const [etcdPort, apiPort] = /** @type {[number, number]} */ (await freePorts(2));
  const server = `https://127.0.0.1:${apiPort}`;
  const etcdServer = `http://127.0.0.1:${etcdPort}`;
  const certFolder = join(folder, "serving");
  const kubeconfigPath = join(folder, "kubeconfig");
  const logs = { etcd: join(folder, "etcd.log"), kubeApiServer: join(folder, "kube-apiserver.log") };
  await mkdir(certFolder);
  const { adminToken, files } = await writeCredentials(folder);

  /** @type {{ etcd?: import("./process.mjs").ServerProcess, kubeApiServer?: import("./process.mjs").ServerProcess }} */
  const running = {};
  /** @type {Set<import("./process.mjs").ServerProcess>} also those that are still ending */
  const alive = new Set();
  let caPem = "";
  /** @type {Promise<void> | undefined} */
  let stopped;
  /** @type {Set<Promise<void>>} */
  const starting = new Set();
  /** @type {(error: Error) => void} */
  let reportDeath = () => {};
  /** @type {Promise<Error>} */
  const died = new Promise((resolve) => {
    reportDeath = resolve;
  });

  /**
   * @param {"etcd" | "kubeApiServer"} key
   * @param {string} name
   * @param {string[]} args
   * @param {() => Promise<boolean>} probe
   */
  async function run(key, name, args, probe) {
    if (running[key]) throw new Error(`Cannot start ${name} as it runs already; stop it first`);
    const logFile = logs[key];
    const command = assets[key];
    const process = await startProcess({ name, command, args, logFile, home: folder, guardian });
    startedPids.push(process.pid);
    running[key] = process;
    alive.add(process);
    void process.exited.then(() => alive.delete(process));
    try {
      // Somebody may have stopped the cluster while the process was being made.
      refuseIfStopped();
      await untilReady({ process, logFile, timeoutMs: readyTimeoutMs, probe });
      refuseIfStopped();
    } catch (error) {
      if (running[key] === process) delete running[key];
      await process.end("SIGKILL");
      throw error;
    }
    void process.exited.then(async (how) => {
      if (running[key] !== process) return;
      delete running[key];
      reportDeath(
        new Error(`${name} ended (${how}) by itself; the end of ${logFile}:\n${await tail(logFile)}`),
      );
    });
  }

  function refuseIfStopped() {
    if (stopped) throw new Error("Cannot start a server as the cluster was stopped; start a new cluster");
  }

  /**
   * @param {"etcd" | "kubeApiServer"} key
   * @param {NodeJS.Signals} signal
   */
  async function end(key, signal) {
    const process = running[key];
    // Forgotten first: an end that was asked for is no death.
    delete running[key];
    await process?.end(signal);
  }

  const startEtcd = () =>
    run(
      "etcd",
      "etcd",
      [
        `--data-dir=${join(folder, "etcd")}`,
        `--listen-client-urls=${etcdServer}`,
        `--advertise-client-urls=${etcdServer}`,
        // Nobody joins it, so any port will do.
        "--listen-peer-urls=http://127.0.0.1:0",
        // The data is thrown away with the folder; what matters here survives a killed process without fsync.
        "--unsafe-no-fsync",
      ],
      () => answersOk(`${etcdServer}/health`),
    );

  const startKubeApiServer = () =>
    run(
      "kubeApiServer",
      "kube-apiserver",
      [
        `--etcd-servers=${etcdServer}`,
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        `--secure-port=${apiPort}`,
        `--cert-dir=${certFolder}`,
        "--authorization-mode=RBAC",
        `--token-auth-file=${files.tokens}`,
        "--service-account-issuer=https://kubernetes.default.svc",
        `--service-account-key-file=${files.serviceAccountPublicKey}`,
        `--service-account-signing-key-file=${files.serviceAccountPrivateKey}`,
        "--service-cluster-ip-range=10.0.0.0/24",
        // It refuses pods until a controller, which is not here, has made the ServiceAccount "default".
        "--disable-admission-plugins=ServiceAccount",
        // A loopback address is no valid endpoint of the service "kubernetes".
        "--endpoint-reconciler-type=none",
        ...apiServerFlags,
      ],
      async () => {
        const ca = await readServingCa(certFolder);
        if (!ca) return false;
        caPem = ca;
        const access = { ca, token: adminToken };
        if (!(await answersOk(`${server}/readyz`, access))) return false;
        // Made in the background, and not waited for by /readyz.
        return answersOk(`${server}/api/v1/namespaces/default`, access);
      },
    );

  /** @param {{ keep?: boolean }} [options] */
  function stop({ keep = keepFolder } = {}) {
    stopped ??= (async () => {
      // Nothing here is worth a graceful end.
      delete running.kubeApiServer;
      delete running.etcd;
      await Promise.all([...alive].map((process) => process.end("SIGKILL")));
      // A start under way sees that it is not wanted any more, and ends what it made.
      await Promise.allSettled(starting);
      if (keep) guardian.keepFolder();
      else await rm(folder, { recursive: true, force: true });
      await guardian.end();
    })();
    return stopped;
  }

  /** @param {RestartOptions} [options] */
  async function stopApiServer({ signal = "SIGTERM", withEtcd = false } = {}) {
    await end("kubeApiServer", signal);
    if (withEtcd) await end("etcd", signal);
  }

  async function startServers() {
    refuseIfStopped();
    if (!running.etcd) await startEtcd();
    refuseIfStopped();
    await startKubeApiServer();
  }

  async function startApiServer() {
    const start = startServers();
    starting.add(start);
    await start.finally(() => starting.delete(start));
  }

  try {
    await startApiServer();
    const text = kubeconfig({ server, caPem, token: adminToken, user: "admin" });
    await writeFile(kubeconfigPath, text, { mode: 0o600 });
  } catch (error) {
    // The message names the logs, so they stay; of a port that was taken there is nothing to read.
    await stop({ keep: keepFolder || !(error instanceof PortTakenError) });
    throw error;
  }

  return {
    server,
    etcdServer,
    caPem,
    adminToken,
    kubeconfigPath,
    folder,
    pids: () => ({ kubeApiServer: running.kubeApiServer?.pid, etcd: running.etcd?.pid }),
    startedPids: () => [...startedPids],
    died,
    stopApiServer,
    startApiServer,
    async restartApiServer(options) {
      await stopApiServer(options);
      await startApiServer();
    },
    stop: () => stop(),
  };
}
