// @ts-check
/**
 * Starts a real kube-apiserver with its etcd on the loopback interface.
 *
 * It has RBAC, service-account tokens and an admin. It has no controllers: a deleted namespace stays
 * Terminating, there is no "default" ServiceAccount, and pods do not run.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAssets } from "./assets.mjs";
import { startCleanupProcess } from "./cleanup-process.mjs";
import { kubeconfig, readServingCa, writeCredentials } from "./credentials.mjs";
import { freePorts } from "./ports.mjs";
import { startProcess } from "./process.mjs";
import { answersOk, PortTakenError, tail, untilReady } from "./ready.mjs";

/**
 * @typedef {object} ClusterOptions
 * @property {import("./assets.mjs").Assets} [assets] by default those that findAssets() finds or builds
 * @property {string[]} [apiServerFlags] more flags for kube-apiserver; they override the default flags
 * @property {number} [readyTimeoutMs] for each server, by default 60_000
 * @property {boolean} [keepFolder] keep the logs after stop(), by default false
 *
 * @typedef {object} RestartOptions
 * @property {NodeJS.Signals} [signal] SIGTERM shuts down gracefully, SIGKILL simulates a crash; by default "SIGTERM"
 * @property {boolean} [withEtcd] also stop etcd, by default false
 *
 * @typedef {object} Cluster
 * @property {string} server URL of kube-apiserver; a restart keeps it
 * @property {string} etcdServer URL of etcd, plain HTTP without authentication; a restart keeps it
 * @property {string} caPem
 * @property {string} adminToken of the user admin in system:masters
 * @property {string} kubeconfigPath the admin's
 * @property {string} folder data, logs and credentials
 * @property {() => { kubeApiServer: number | undefined, etcd: number | undefined }} pids of the running servers
 * @property {() => number[]} startedPids of every process that was started, so that a test can check that all have exited
 * @property {Promise<Error>} died resolves when a server exits unexpectedly
 * @property {(options?: RestartOptions) => Promise<void>} stopApiServer
 * @property {() => Promise<void>} startApiServer starts what stopApiServer stopped, and waits until it is ready
 * @property {(options?: RestartOptions) => Promise<void>} restartApiServer
 * @property {() => Promise<void>} stop kills every process and removes the folder; a second call waits for the first
 */

/** Ports are chosen before they are used. This is how often another process may take one first. */
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
  const cleanup = await startCleanupProcess(folder);
  const startedPids = [cleanup.pid];
  if (keepFolder) cleanup.keepFolder();

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
  /** @type {Set<import("./process.mjs").ServerProcess>} including those that are still exiting */
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
    if (running[key]) throw new Error(`Cannot start ${name}: it is already running. Stop it first`);
    const logFile = logs[key];
    const command = assets[key];
    const process = await startProcess({ name, command, args, logFile, home: folder, cleanup });
    startedPids.push(process.pid);
    running[key] = process;
    alive.add(process);
    void process.exited.then(() => alive.delete(process));
    try {
      // The cluster may have been stopped while the process was being started.
      rejectIfStopped();
      await untilReady({ process, logFile, timeoutMs: readyTimeoutMs, probe });
      rejectIfStopped();
    } catch (error) {
      if (running[key] === process) delete running[key];
      await process.end("SIGKILL");
      throw error;
    }
    void process.exited.then(async (how) => {
      if (running[key] !== process) return;
      delete running[key];
      reportDeath(
        new Error(`${name} exited unexpectedly (${how}). The end of ${logFile}:\n${await tail(logFile)}`),
      );
    });
  }

  function rejectIfStopped() {
    if (stopped) throw new Error("Cannot start a server: the cluster was stopped. Start a new cluster");
  }

  /**
   * @param {"etcd" | "kubeApiServer"} key
   * @param {NodeJS.Signals} signal
   */
  async function end(key, signal) {
    const process = running[key];
    // Removed first, so that this exit is not reported as unexpected.
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
        // No other member joins, so any port is fine.
        "--listen-peer-urls=http://127.0.0.1:0",
        // The data is deleted with the folder, and without fsync it still survives a killed process.
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
        // It rejects pods until a controller has created the ServiceAccount "default", and there are no controllers.
        "--disable-admission-plugins=ServiceAccount",
        // A loopback address is not a valid endpoint of the Service "kubernetes".
        "--endpoint-reconciler-type=none",
        ...apiServerFlags,
      ],
      async () => {
        const ca = await readServingCa(certFolder);
        if (!ca) return false;
        caPem = ca;
        const access = { ca, token: adminToken };
        if (!(await answersOk(`${server}/readyz`, access))) return false;
        // Created in the background; /readyz does not wait for it.
        return answersOk(`${server}/api/v1/namespaces/default`, access);
      },
    );

  /** @param {{ keep?: boolean }} [options] */
  function stop({ keep = keepFolder } = {}) {
    stopped ??= (async () => {
      // No server has anything to save, so all are killed.
      delete running.kubeApiServer;
      delete running.etcd;
      await Promise.all([...alive].map((process) => process.end("SIGKILL")));
      // A start in progress notices the stop, and kills the process that it started.
      await Promise.allSettled(starting);
      if (keep) cleanup.keepFolder();
      else await rm(folder, { recursive: true, force: true });
      await cleanup.end();
    })();
    return stopped;
  }

  /** @param {RestartOptions} [options] */
  async function stopApiServer({ signal = "SIGTERM", withEtcd = false } = {}) {
    await end("kubeApiServer", signal);
    if (withEtcd) await end("etcd", signal);
  }

  async function startServers() {
    rejectIfStopped();
    if (!running.etcd) await startEtcd();
    rejectIfStopped();
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
    // The message refers to the logs, so they are kept, unless the only problem was a taken port.
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
