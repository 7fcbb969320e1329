// @ts-check
/**
 * Starts a real kube-apiserver with its etcd on the loopback interface, or several on one etcd.
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
 * @property {number} [apiServers] how many kube-apiservers share the etcd, by default 1
 * @property {string[]} [apiServerFlags] more flags for kube-apiserver; they override the default flags
 * @property {number} [readyTimeoutMs] for each server, by default 60_000
 * @property {boolean} [keepFolder] keep the logs after stop(), by default false
 *
 * @typedef {object} RestartOptions
 * @property {NodeJS.Signals} [signal] SIGTERM shuts down gracefully, SIGKILL simulates a crash; by default "SIGTERM"
 * @property {boolean} [withEtcd] also stop etcd, by default false
 *
 * @typedef {object} ApiServer one of the kube-apiservers; all have the same certificate
 * @property {string} server its URL
 * @property {() => number | undefined} pid
 * @property {(signal: NodeJS.Signals) => Promise<void>} stop
 * @property {() => Promise<void>} start
 *
 * @typedef {object} Cluster
 * @property {string} server URL of the first kube-apiserver; a restart keeps it
 * @property {ApiServer[]} apiServers
 * @property {string} etcdServer URL of etcd, plain HTTP without authentication; a restart keeps it
 * @property {string} caPem
 * @property {string} adminToken of the user admin in system:masters
 * @property {string} kubeconfigPath the admin's
 * @property {string} folder data, logs and credentials
 * @property {string} etcdFolder etcd's data; replace it only while etcd is stopped
 * @property {() => { kubeApiServer: number | undefined, etcd: number | undefined }} pids of the running servers
 * @property {() => number[]} startedPids of every process that was started, so that a test can check that all have exited
 * @property {Promise<Error>} died resolves when a server exits unexpectedly
 * @property {(options?: RestartOptions) => Promise<void>} stopApiServer stops all kube-apiservers
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
async function start({
  assets,
  apiServers: apiServerCount = 1,
  apiServerFlags = [],
  readyTimeoutMs = 60_000,
  keepFolder = false,
}) {
  const folder = await mkdtemp(join(tmpdir(), "tenure-kube-"));
  const cleanup = await startCleanupProcess(folder);
  const startedPids = [cleanup.pid];
  if (keepFolder) cleanup.keepFolder();

  const [etcdPort, ...apiPorts] = /** @type {[number, ...number[]]} */ (await freePorts(1 + apiServerCount));
  const servers = apiPorts.map((port) => `https://127.0.0.1:${port}`);
  const [server = ""] = servers;
  const etcdServer = `http://127.0.0.1:${etcdPort}`;
  const certFolder = join(folder, "serving");
  const kubeconfigPath = join(folder, "kubeconfig");
  const etcdFolder = join(folder, "etcd");
  await mkdir(certFolder);
  const { adminToken, files } = await writeCredentials(folder);

  /** @type {Record<string, import("./process.mjs").ServerProcess>} by name */
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
   * @param {string} name
   * @param {string} command
   * @param {string[]} args
   * @param {() => Promise<boolean>} probe
   */
  async function run(name, command, args, probe) {
    if (running[name]) throw new Error(`Cannot start ${name}: it is already running. Stop it first`);
    const logFile = join(folder, `${name}.log`);
    const process = await startProcess({ name, command, args, logFile, home: folder, cleanup });
    startedPids.push(process.pid);
    running[name] = process;
    alive.add(process);
    void process.exited.then(() => alive.delete(process));
    try {
      // The cluster may have been stopped while the process was being started.
      rejectIfStopped();
      await untilReady({ process, logFile, timeoutMs: readyTimeoutMs, probe });
      rejectIfStopped();
    } catch (error) {
      if (running[name] === process) delete running[name];
      await process.end("SIGKILL");
      throw error;
    }
    void process.exited.then(async (how) => {
      if (running[name] !== process) return;
      delete running[name];
      reportDeath(
        new Error(`${name} exited unexpectedly (${how}). The end of ${logFile}:\n${await tail(logFile)}`),
      );
    });
  }

  function rejectIfStopped() {
    if (stopped) throw new Error("Cannot start a server: the cluster was stopped. Start a new cluster");
  }

  /**
   * @param {string} name
   * @param {NodeJS.Signals} signal
   */
  async function end(name, signal) {
    const process = running[name];
    // Removed first, so that this exit is not reported as unexpected.
    delete running[name];
    await process?.end(signal);
  }

  const startEtcd = () =>
    run(
      "etcd",
      assets.etcd,
      [
        `--data-dir=${etcdFolder}`,
        `--listen-client-urls=${etcdServer}`,
        `--advertise-client-urls=${etcdServer}`,
        // No other member joins, so any port is fine.
        "--listen-peer-urls=http://127.0.0.1:0",
        // The data is deleted with the folder, and without fsync it still survives a killed process.
        "--unsafe-no-fsync",
      ],
      () => answersOk(`${etcdServer}/health`),
    );

  /** @param {number} index */
  const nameOf = (index) => (index === 0 ? "kube-apiserver" : `kube-apiserver-${index + 1}`);

  /** @param {number} index */
  const startKubeApiServer = (index) =>
    run(
      nameOf(index),
      assets.kubeApiServer,
      [
        `--etcd-servers=${etcdServer}`,
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        `--secure-port=${apiPorts[index]}`,
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
        if (!(await answersOk(`${servers[index]}/readyz`, access))) return false;
        // Created in the background; /readyz does not wait for it.
        return answersOk(`${servers[index]}/api/v1/namespaces/default`, access);
      },
    );

  /** @param {{ keep?: boolean }} [options] */
  function stop({ keep = keepFolder } = {}) {
    stopped ??= (async () => {
      // No server has anything to save, so all are killed.
      for (const name of Object.keys(running)) delete running[name];
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
    await Promise.all(servers.map((_server, index) => end(nameOf(index), signal)));
    if (withEtcd) await end("etcd", signal);
  }

  async function startServers() {
    rejectIfStopped();
    if (!running.etcd) await startEtcd();
    rejectIfStopped();
    const indexes = [...servers.keys()];
    // The first one creates the certificate that all use.
    if (!caPem) await startKubeApiServer(/** @type {number} */ (indexes.shift()));
    const started = await Promise.allSettled(indexes.map(startKubeApiServer));
    for (const result of started) if (result.status === "rejected") throw result.reason;
  }

  /** @param {() => Promise<void>} task */
  async function starts(task) {
    const start = task();
    starting.add(start);
    await start.finally(() => starting.delete(start));
  }

  const startApiServer = () => starts(startServers);

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
    apiServers: servers.map((url, index) => ({
      server: url,
      pid: () => running[nameOf(index)]?.pid,
      stop: (signal) => end(nameOf(index), signal),
      start: () => starts(() => startKubeApiServer(index)),
    })),
    etcdServer,
    etcdFolder,
    caPem,
    adminToken,
    kubeconfigPath,
    folder,
    pids: () => ({ kubeApiServer: running[nameOf(0)]?.pid, etcd: running.etcd?.pid }),
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
