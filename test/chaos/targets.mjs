// @ts-check
/** The API servers to test on: the sandbox, a real kube-apiserver with its etcd, or two of them on one etcd. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startCluster } from "../kube/cluster.mjs";
import { freePorts } from "../kube/ports.mjs";
import { findEtcdutl, restoreSnapshot, saveSnapshot } from "../kube/restore.mjs";
import { startEtcdServers } from "./etcd-servers.mjs";
import { nowMs } from "./history/history.mjs";
import { TcpProxy } from "./proxy.mjs";
import { storeTargets } from "./store-targets.mjs";

/**
 * @typedef {object} Context
 * @property {() => number} random
 * @property {number} leaseMs
 * @property {import("./history/history.mjs").HistoryFile} history
 * @property {() => Promise<void>} forgetTokens makes the registers forget which tokens they have seen
 *
 * @typedef {object} Target
 * @property {string} server as in the kubeconfig
 * @property {string} kubeconfig text
 * @property {(port: number) => string} [lockUrl] the store that holds the lock, at this port; without it the lock is a Lease
 * @property {(name: string) => Promise<unknown>} [deleteLock] deletes the lock from the store
 * @property {{ host: string, port: number }[]} addresses of the servers; candidates use all of them
 * @property {Record<string, (context: Context) => Promise<void>>} faults of the servers; only one happens at a time
 * @property {(history: import("./history/history.mjs").HistoryFile) => import("./objects/load.mjs").ObjectLoad} [startLoad] clients
 *   beside the candidates
 * @property {() => Promise<void>} stop
 */

const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {string} server */
function addressOf(server) {
  const { hostname: host, port } = new URL(server);
  return { host, port: Number(port) };
}

/** @type {Record<string, () => Promise<Target>>} */
export const targets = {
  ...storeTargets,
  "etcd-servers": startEtcdServers,
  sandbox: async () => {
    const { startSandbox } = await import("@tenure/sandbox");
    const sandbox = await startSandbox();
    return {
      server: sandbox.url,
      kubeconfig: sandbox.kubeconfig,
      addresses: [addressOf(sandbox.url)],
      faults: { "restart the API server": () => sandbox.restart() },
      stop: () => sandbox.close(),
    };
  },
  kube: async () => {
    const cluster = await startCluster();
    return {
      server: cluster.server,
      kubeconfig: await readFile(cluster.kubeconfigPath, "utf8"),
      addresses: [addressOf(cluster.server)],
      faults: {
        "restart the API server": (context) => restart(cluster, context),
        ...(await restores(cluster)),
      },
      stop: () => cluster.stop(),
    };
  },
  "two-servers": async () => {
    const cluster = await startCluster({ apiServers: 2 });
    const ports = await freePorts(cluster.apiServers.length);
    const networks = cluster.apiServers.map(({ server }) => new TcpProxy(addressOf(server)));
    for (const [index, network] of networks.entries())
      await network.listen(/** @type {number} */ (ports[index]));
    /** @template T @param {T[]} items @param {Context} context @returns {T} */
    const oneOf = (items, { random }) => /** @type {T} */ (items[Math.floor(random() * items.length)]);
    return {
      server: cluster.server,
      kubeconfig: await readFile(cluster.kubeconfigPath, "utf8"),
      addresses: ports.map((port) => ({ host: "127.0.0.1", port })),
      faults: {
        "kill one API server": async (context) => {
          const server = oneOf(cluster.apiServers, context);
          await server.stop("SIGKILL");
          await wait(context.random() * 2 * context.leaseMs);
          await server.start();
        },
        "freeze one API server": async (context) => {
          const pid = oneOf(cluster.apiServers, context).pid();
          if (pid === undefined) return;
          process.kill(pid, "SIGSTOP");
          await wait(context.random() * 3 * context.leaseMs);
          process.kill(pid, "SIGCONT");
        },
        "cut off one API server": async (context) => {
          const network = oneOf(networks, context);
          network.setMode(context.random() < 0.5 ? "black-hole" : "refusing");
          await wait(context.random() * 3 * context.leaseMs);
          network.setMode("normal");
        },
        "slow down one API server": async (context) => {
          const network = oneOf(networks, context);
          network.setMode("slow");
          await wait(context.random() * 3 * context.leaseMs);
          network.setMode("normal");
        },
        "restart all API servers": (context) => restart(cluster, context),
        ...(await restores(cluster)),
      },
      stop: async () => {
        for (const network of networks) network.close();
        await cluster.stop();
      },
    };
  },
};

/** @param {import("../kube/cluster.mjs").Cluster} cluster @param {Context} context */
function restart(cluster, { random }) {
  return cluster.restartApiServer({ signal: "SIGKILL", withEtcd: random() < 0.5 });
}

/** @param {import("../kube/cluster.mjs").Cluster} cluster @returns {Promise<Target["faults"]>} */
async function restores(cluster) {
  const etcdutl = await findEtcdutl();
  const file = join(cluster.folder, "snapshot");
  /** @param {boolean} bumped @returns {(context: Context) => Promise<void>} */
  const restore = (bumped) => async (context) => {
    const { random, leaseMs, history } = context;
    await saveSnapshot(cluster.etcdServer, file);
    // What happens until then is forgotten.
    await wait(random() * 3 * leaseMs);
    const fromMs = nowMs();
    await cluster.stopApiServer({ signal: "SIGKILL", withEtcd: true });
    const stoppedMs = nowMs();
    await restoreSnapshot({ etcdutl, file, etcdFolder: cluster.etcdFolder, bumped });
    // As the documentation says: nobody works when the servers come back, and if revisions fall, storage forgets the tokens.
    await wait(Math.max(0, stoppedMs + leaseMs - nowMs()));
    if (!bumped) await context.forgetTokens();
    history.append({ kind: "restore", fromMs, toMs: nowMs(), bumped });
    await cluster.startApiServer();
  };
  return {
    "restore etcd with --bump-revision": restore(true),
    "restore etcd": restore(false),
  };
}
