// @ts-check
/**
 * Starts a cluster by hand, and stays until Ctrl-C or SIGTERM:
 *
 *     node test/kube/up.mjs [--kubeconfig FILE]
 *
 * Prints the path of the admin's kubeconfig on stdout, everything else on stderr.
 */
import { copyFile, mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { startCluster } from "./cluster.mjs";

const { values } = parseArgs({ options: { kubeconfig: { type: "string" } } });

const cluster = await startCluster().catch((error) => {
  // The message is for whoever typed the command; the stack is not.
  console.error(error.message);
  process.exit(1);
});
if (values.kubeconfig) {
  await mkdir(dirname(values.kubeconfig), { recursive: true });
  await copyFile(cluster.kubeconfigPath, values.kubeconfig);
}
console.error(
  `kube-apiserver is ready at ${cluster.server}, its logs are in ${cluster.folder}; Ctrl-C stops it`,
);
console.log(values.kubeconfig ?? cluster.kubeconfigPath);

/** @type {Promise<undefined>} */
const told = new Promise((resolve) => {
  // SIGHUP as well, which a closed terminal sends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(undefined));
});
const death = await Promise.race([told, cluster.died]);
if (death) {
  console.error(death.message);
  process.exitCode = 1;
}
if (values.kubeconfig) await rm(values.kubeconfig, { force: true });
await cluster.stop();
