/**
 * Finds the cluster, in this order: the `kubeconfig` option, $KUBECONFIG, the pod's service account, ~/.kube/config.
 * It never falls back silently: a file that is named but missing is an error.
 * It does not contact the server, so the server may still reject a configuration that loads.
 */
import { delimiter, join } from "node:path";
import type { ClusterConfig } from "./config.ts";
import type { InClusterOptions } from "./credentials/in-cluster.ts";
import { KubeError, systemCode } from "./errors.ts";
import { type Platform, systemPlatform } from "./platform.ts";

export type LoadConfigOptions = InClusterOptions & {
  /**
   * The path of a kubeconfig.
   * @default the files in $KUBECONFIG, else the pod's service account, else ~/.kube/config
   */
  kubeconfig?: string | undefined;
  /**
   * The name of a context in the kubeconfig.
   * @default its current-context
   */
  context?: string | undefined;
  /**
   * `true` uses only the pod's service account, `false` never uses it.
   * @default true if KUBERNETES_SERVICE_HOST is set and neither `kubeconfig` nor $KUBECONFIG is
   */
  inCluster?: boolean | undefined;
  /** For tests. @default the real machine */
  platform?: Platform | undefined;
};

export async function loadConfig(options: LoadConfigOptions = {}): Promise<ClusterConfig> {
  const platform = options.platform ?? systemPlatform;
  if (options.kubeconfig !== undefined && options.inCluster) {
    throw new KubeError(
      "BadConfig",
      `Cannot use both the kubeconfig ${options.kubeconfig} and inCluster: true. Remove one of them.`,
    );
  }
  if (options.kubeconfig !== undefined)
    return fromFiles([options.kubeconfig], "kubeconfig", options, platform);

  const listed = (platform.env.KUBECONFIG ?? "").split(delimiter).filter((path) => path !== "");
  if (!options.inCluster && listed.length > 0) return fromFiles(listed, "KUBECONFIG", options, platform);

  if (options.inCluster ?? Boolean(platform.env.KUBERNETES_SERVICE_HOST)) {
    if (options.context !== undefined) {
      throw new KubeError(
        "BadConfig",
        `Cannot use the context "${options.context}": a service account has no contexts. Pass kubeconfig or set KUBECONFIG.`,
      );
    }
    const { loadInCluster } = await import("./credentials/in-cluster.ts");
    return loadInCluster(options, platform);
  }

  const home = platform.env.HOME || platform.env.USERPROFILE;
  const standard = home ? join(home, ".kube", "config") : undefined;
  try {
    if (standard !== undefined) return await fromFiles([standard], "default", options, platform);
  } catch (error) {
    if (systemCode((error as Error).cause) !== "ENOENT") throw error;
  }
  throw new KubeError(
    "NoConfig",
    `Cannot find a Kubernetes cluster: KUBECONFIG is not set, ${standard ?? "~/.kube/config"} does not exist, and this is not ` +
      "a pod (KUBERNETES_SERVICE_HOST is not set). Pass kubeconfig, set KUBECONFIG, or run in a pod with a service account.",
  );
}

async function fromFiles(
  paths: readonly string[],
  origin: "kubeconfig" | "KUBECONFIG" | "default",
  options: LoadConfigOptions,
  platform: Platform,
): Promise<ClusterConfig> {
  const { loadKubeconfig } = await import("./kubeconfig/load.ts");
  return loadKubeconfig(paths, { origin, context: options.context, platform });
}
