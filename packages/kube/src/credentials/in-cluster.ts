/**
 * The service account of this pod. A pod may start before its credentials are mounted, so loading waits for them.
 * The token is read again every minute, so a token that the kubelet has rotated is used long before the old one expires.
 * Loading does not check that the server accepts the token.
 */
import { join } from "node:path";
import { Cancellation } from "../cancellation.ts";
import type { ClusterConfig } from "../config.ts";
import { fileProblem, KubeError, systemCode } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { rotatingFile } from "./rotating-file.ts";

const standardDir = "/var/run/secrets/kubernetes.io/serviceaccount";
const defaultWaitMs = 60_000;
const pollMs = 250;
const maxBytes = 1024 * 1024;

export type InClusterOptions = {
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
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** Called once with a message for the log if the token is not mounted yet. */
  onWait?: ((message: string) => void) | undefined;
};

export async function loadInCluster(options: InClusterOptions, platform: Platform): Promise<ClusterConfig> {
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
  const token = rotatingFile({
    path: tokenPath,
    what: "the service account token",
    platform,
    content: await waitForToken(tokenPath, options, platform),
  });
  const [ca, namespace] = await Promise.all(
    ["ca.crt", "namespace"].map((name) => readIfPresent(platform, join(dir, name))),
  );
  const authority = rotatingFile({
    path: join(dir, "ca.crt"),
    what: "the certificate authority",
    platform,
    content: ca,
  });
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace,
    ca,
    credentials: {
      headers: async () => ({ authorization: `Bearer ${await token.read()}` }),
      tls: async () => (ca === undefined ? {} : { ca: await authority.read() }),
      async refresh() {
        token.forget();
      },
      problem: () => token.problem() ?? authority.problem(),
    },
  };
}

/** Resolves with the token. */
async function waitForToken(path: string, options: InClusterOptions, platform: Platform): Promise<string> {
  const { clock } = platform;
  const waitMs = options.waitForMountMs ?? defaultWaitMs;
  const startedMs = clock.now().monoMs;
  const cancellation = new Cancellation();
  cancellation.cancelOnAbort(options.signal, () => "load in-cluster credentials");
  let isReported = false;
  try {
    for (;;) {
      if (cancellation.error !== undefined) throw cancellation.error;
      const { token, problem } = await readToken(path, platform);
      if (token !== undefined) return token;
      const elapsedMs = clock.now().monoMs - startedMs;
      if (elapsedMs >= waitMs) {
        throw new KubeError(
          "NoConfig",
          `Cannot use in-cluster credentials: no token in ${path} after ${Math.round(waitMs / 1000)} s: ${problem}. ` +
            "Is automountServiceAccountToken false for this pod? Set it to true, pass kubeconfig or set KUBECONFIG.",
        );
      }
      if (!isReported)
        options.onWait?.(`Waiting up to ${Math.round(waitMs / 1000)} s for ${path}: ${problem}.`);
      isReported = true;
      await cancellation.sleep(clock, Math.min(pollMs, waitMs - elapsedMs));
    }
  } finally {
    cancellation.dispose();
  }
}

async function readToken(
  path: string,
  platform: Platform,
): Promise<{ readonly token?: string; readonly problem?: string }> {
  try {
    const token = (await platform.readFile(path, maxBytes)).trim();
    return token === "" ? { problem: "it is empty" } : { token };
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}

async function readIfPresent(platform: Platform, path: string): Promise<string | undefined> {
  try {
    return (await platform.readFile(path, maxBytes)).trim() || undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new KubeError("BadConfig", `Cannot read ${path}: ${fileProblem(error)}.`, { cause: error });
  }
}
