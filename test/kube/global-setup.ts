import type { TestProject } from "vitest/node";
import { startCluster } from "./cluster.mjs";
import { isRunning } from "./process.mjs";

declare module "vitest" {
  interface ProvidedContext {
    kube: { server: string; caPem: string; adminToken: string };
  }
}

const variable = "TENURE_CONFORMANCE_KUBECONFIG";

/** One cluster for the whole run. Returns what ends it, and fails the run if anything of it is left. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const keepFolder = process.env.TENURE_KUBE_KEEP === "1";
  const cluster = await startCluster({ keepFolder });
  // A server on an empty store has forgotten nothing yet. After a restart it knows only what came since, as servers do.
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
      ...(left.length > 0 ? [`The cluster was stopped but left processes: ${left.join(", ")}`] : []),
      ...(death ? [death.message] : []),
    ];
    if (problems.length === 0) return;
    // vitest prints what a teardown throws, and then exits with 0.
    process.exitCode = 1;
    throw new Error(problems.join("\n"));
  };
}
