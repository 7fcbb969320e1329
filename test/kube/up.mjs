// @ts-check
/**
 * Starts a cluster and runs until Ctrl-C or SIGTERM:
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
  // Without the stack, which does not help the user of the command.
  console.error(error.message);
  process.exit(1);
});
if (values.kubeconfig) {
  await mkdir(dirname(values.kubeconfig), { recursive: true });
  await copyFile(cluster.kubeconfigPath, values.kubeconfig);
}
console.error(
  `kube-apiserver is ready at ${cluster.server}, its logs are in ${cluster.folder}; press Ctrl-C to stop`,
);
console.log(values.kubeconfig ?? cluster.kubeconfigPath);

/** @type {Promise<undefined>} */
const stopRequested = new Promise((resolve) => {
  // A terminal that is closed sends SIGHUP.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(undefined));
});
const death = await Promise.race([stopRequested, cluster.died]);
if (death) {
  console.error(death.message);
  process.exitCode = 1;
}
if (values.kubeconfig) await rm(values.kubeconfig, { force: true });
await cluster.stop();
