/**
 * The service account of the pod we run in. A pod may start before its credentials are mounted, so they are waited for.
 * Upholds: the token in use is never older than the rotation of the kubelet allows (A4). It does not check that the
 * token is accepted.
 */
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { Cancellation } from "../cancellation.ts";
import type { ClusterConfig } from "../config.ts";
import { fileProblem, KubeError, systemCode } from "../errors.ts";
import type { LoadConfigOptions } from "../load-config.ts";
import type { Platform } from "../platform.ts";
import { rotatingFile } from "./rotating-file.ts";

const standardDir = "/var/run/secrets/kubernetes.io/serviceaccount";
const defaultWaitMs = 60_000;
const pollMs = 250;
const maxBytes = 1024 * 1024;

export async function loadInCluster(options: LoadConfigOptions, platform: Platform): Promise<ClusterConfig> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = platform.env;
  if (!host || !port) {
    const missing = host ? "KUBERNETES_SERVICE_PORT" : "KUBERNETES_SERVICE_HOST";
    throw new KubeError(
      "NoConfig",
      `Cannot use in-cluster credentials: ${missing} is not set, so this is not a pod. Pass kubeconfig or set KUBECONFIG.`,
    );
  }
  const dir = options.serviceAccountDir ?? platform.env.TENURE_SERVICEACCOUNT_DIR ?? standardDir;
  const tokenPath = join(dir, "token");
  await waitForToken(tokenPath, options, platform);
  const token = rotatingFile({ path: tokenPath, what: "the service account token", platform });
  const ca = await optional(platform, join(dir, "ca.crt"));
  const authority = rotatingFile({
    path: join(dir, "ca.crt"),
    what: "the certificate authority",
    platform,
    fallback: ca,
  });
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: await optional(platform, join(dir, "namespace")),
    ca,
    credentials: {
      headers: async () => ({ authorization: `Bearer ${await token.read()}` }),
      tls: async () => (ca === undefined ? {} : { ca: await authority.read() }),
      async refresh() {
        token.forget();
      },
    },
  };
}

async function waitForToken(path: string, options: LoadConfigOptions, platform: Platform): Promise<void> {
  const waitMs = options.waitForMountMs ?? defaultWaitMs;
  const startedAt = platform.monotonicMs();
  const cancellation = new Cancellation();
  cancellation.followSignal(options.signal, "load in-cluster credentials");
  let isTold = false;
  try {
    for (;;) {
      if (cancellation.error !== undefined) throw cancellation.error;
      const problem = await tokenProblem(path, platform);
      if (problem === undefined) return;
      const elapsedMs = platform.monotonicMs() - startedAt;
      if (elapsedMs >= waitMs) {
        throw new KubeError(
          "NoConfig",
          `Cannot use in-cluster credentials: ${path} is not usable after ${Math.round(waitMs / 1000)} s, ${problem}. ` +
            "Is automountServiceAccountToken off for this pod? Turn it on, pass kubeconfig or set KUBECONFIG.",
        );
      }
      if (!isTold) options.onWait?.(`Waiting up to ${Math.round(waitMs / 1000)} s for ${path}: ${problem}.`);
      isTold = true;
      await pause(Math.min(pollMs, waitMs - elapsedMs), platform, cancellation);
    }
  } finally {
    cancellation.dispose();
  }
}

async function tokenProblem(path: string, platform: Platform): Promise<string | undefined> {
  try {
    return (await platform.readFile(path, maxBytes)).trim() === "" ? "it is empty" : undefined;
  } catch (error) {
    return fileProblem(error);
  }
}

async function pause(ms: number, platform: Platform, cancellation: Cancellation): Promise<void> {
  let cancelTimer = (): void => {};
  const elapsed = new Promise<void>((resolve) => {
    cancelTimer = platform.setTimer(resolve, ms);
  });
  await cancellation.race(elapsed).finally(cancelTimer);
}

async function optional(platform: Platform, path: string): Promise<string | undefined> {
  try {
    return (await platform.readFile(path, maxBytes)).trim() || undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new KubeError("BadConfig", `Cannot read ${path}: ${fileProblem(error)}.`, { cause: error });
  }
}
