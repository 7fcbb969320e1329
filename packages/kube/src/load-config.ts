/**
 * Finds the cluster: an explicit kubeconfig, $KUBECONFIG, the pod's service account, ~/.kube/config, in this order.
 * Nothing falls back in silence: what was named and is not there is an error, not a reason to try the next.
 * It does not contact the server: a configuration that loads may still be refused.
 */
import { delimiter, join } from "node:path";
import type { ClusterConfig } from "./config.ts";
import { KubeError, systemCode } from "./errors.ts";
import { type Platform, systemPlatform } from "./platform.ts";

export type LoadConfigOptions = {
  /**
   * Path of a kubeconfig.
   * @default the files in $KUBECONFIG, else the service account of the pod, else ~/.kube/config
   */
  kubeconfig?: string | undefined;
  /**
   * Name of the context in the kubeconfig.
   * @default its current-context
   */
  context?: string | undefined;
  /**
   * `true` uses the service account of the pod and nothing else, `false` never uses it.
   * @default when KUBERNETES_SERVICE_HOST is set, and neither `kubeconfig` nor $KUBECONFIG is
   */
  inCluster?: boolean | undefined;
  /**
   * How long to wait for the token to be mounted into a pod that has just started.
   * @default 60_000
   */
  waitForMountMs?: number | undefined;
  /**
   * Where token, ca.crt and namespace are mounted.
   * @default $TENURE_SERVICEACCOUNT_DIR, else /var/run/secrets/kubernetes.io/serviceaccount
   */
  serviceAccountDir?: string | undefined;
  /** Ends the waiting. */
  signal?: AbortSignal | undefined;
  /** Told once when the token is not mounted yet, in words for a log. */
  onWait?: ((message: string) => void) | undefined;
  /** @default the real machine */
  platform?: Platform | undefined;
};

export async function loadConfig(options: LoadConfigOptions = {}): Promise<ClusterConfig> {
  const platform = options.platform ?? systemPlatform;
  if (options.kubeconfig !== undefined && options.inCluster) {
    throw new KubeError(
      "BadConfig",
      `Cannot use both the kubeconfig ${options.kubeconfig} and inCluster: true. Leave one of them out.`,
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
