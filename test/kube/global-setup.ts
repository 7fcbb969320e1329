import type { TestProject } from "vitest/node";
import { startCluster } from "./cluster.mjs";
import { isRunning } from "./process.mjs";

declare module "vitest" {
  interface ProvidedContext {
    kube: { server: string; caPem: string; adminToken: string };
  }
}

const variable = "TENURE_CONFORMANCE_KUBECONFIG";

/** Starts one cluster for the whole run. The returned function stops it, and fails the run if a process is left. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keepFolder = process.env.TENURE_KUBE_KEEP === "1";
  const cluster = await startCluster({ keepFolder });
  // A restart empties the watch cache. Without it, the server could still serve every old resourceVersion.
  await cluster.restartApiServer();
  const { server, caPem, adminToken } = cluster;
  let death: Error | undefined;
  void cluster.died.then((error) => {
    death = error;
  });
  // The workers that run the tests inherit it.
  process.env[variable] = cluster.kubeconfigPath;
  project.provide("kube", { server, caPem, adminToken });

  return async () => {
    delete process.env[variable];
    await cluster.stop();
    if (keepFolder) console.error(`The logs of the cluster are in ${cluster.folder}`);
    const pids = cluster.startedPids();
    const running = await Promise.all(pids.map(isRunning));
    const left = pids.filter((_, index) => running[index]);
    const problems = [
      ...(left.length > 0
        ? [`The cluster was stopped, but these processes still run: ${left.join(", ")}`]
        : []),
      ...(death ? [death.message] : []),
    ];
    if (problems.length === 0) return;
    // vitest prints an error of the teardown, but exits with 0.
    process.exitCode = 1;
    throw new Error(problems.join("\n"));
  };
}
