// @ts-check
/** The API servers to test on: the sandbox, or a real kube-apiserver with its etcd. */
import { readFile } from "node:fs/promises";
import { startCluster } from "../kube/cluster.mjs";

/**
 * @typedef {object} Target
 * @property {string} server
 * @property {string} kubeconfig text
 * @property {(random: () => number) => Promise<void>} restart
 * @property {() => Promise<void>} stop
 */

/** @type {Record<string, () => Promise<Target>>} */
export const targets = {
  sandbox: async () => {
    const { startSandbox } = await import("@tenure/sandbox");
    const sandbox = await startSandbox();
    return {
      server: sandbox.url,
      kubeconfig: sandbox.kubeconfig,
      restart: () => sandbox.restart(),
      stop: () => sandbox.close(),
    };
  },
  kube: async () => {
    const cluster = await startCluster();
    return {
      server: cluster.server,
      kubeconfig: await readFile(cluster.kubeconfigPath, "utf8"),
      restart: (random) => cluster.restartApiServer({ signal: "SIGKILL", withEtcd: random() < 0.5 }),
      stop: () => cluster.stop(),
    };
  },
};
