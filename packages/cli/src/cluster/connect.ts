/**
 * Selects the cluster: --kubeconfig, --sandbox, or what kubectl would use. If there is none, the error says how to start one.
 * It never falls back to another cluster silently.
 */
import { type ClusterConfig, KubeClient, KubeError, loadConfig } from "@tenure/kube";
import { systemPlatform as kubePlatform } from "@tenure/kube/internal";
import { CliError } from "../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../platform.ts";
import type { ConnectionFlags } from "../settings/connection-options.ts";

export interface Connection {
  readonly config: ClusterConfig;
  /** For everything except the lock. The lock has its own client, so that nothing queues in front of a renewal. */
  readonly client: KubeClient;
  readonly namespace: string;
}

export interface ConnectOptions {
  /** Ends the wait for credentials that are not mounted yet. */
  readonly signal?: AbortSignal;
  /** Called when credentials are not mounted yet. */
  readonly onWait?: (message: string) => void;
}

/** Finds the cluster. Does not contact it. */
export async function connect(
  flags: ConnectionFlags,
  platform: Platform,
  options: ConnectOptions = {},
): Promise<Connection> {
  const finding = findCluster(flags, platform, options);
  // Node loads it while the credentials are read.
  void import("node:https");
  const config = await finding;
  const namespace =
    flags.namespace ??
    (platform.env("NAMESPACE") || platform.env("POD_NAMESPACE") || config.namespace || "default");
  return { config, client: newClient(config, platform), namespace };
}

export function newClient(config: ClusterConfig, platform: Platform, userAgent = "tenure"): KubeClient {
  return new KubeClient(config, { userAgent, platform: kubePlatformOf(platform) });
}

function kubePlatformOf(platform: Platform, more: Record<string, string> = {}) {
  const env = { HOME: platform.homeDirectory(), ...platform.environment(), ...more };
  return { ...kubePlatform, env };
}

async function findCluster(
  { kubeconfig, context, sandbox }: ConnectionFlags,
  platform: Platform,
  { signal, onWait }: ConnectOptions,
): Promise<ClusterConfig> {
  try {
    if (sandbox !== undefined) return await fromSandbox(sandbox, platform);
    return await loadConfig({ kubeconfig, context, signal, onWait, platform: kubePlatformOf(platform) });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code === "Aborted") throw error;
    const isPod = Boolean(platform.env("KUBERNETES_SERVICE_HOST"));
    const isMissing = error.code === "NoConfig" && !isPod && sandbox === undefined;
    const message = isMissing ? await noClusterMessage(platform) : error.message;
    throw new CliError("Usage", message, { cause: error });
  }
}

async function noClusterMessage(platform: Platform): Promise<string> {
  const path = defaultKubeconfigPath(platform);
  const advice = (await sandboxConfig(platform))
    ? `A sandbox wrote ${path}. If it still runs, pass --kubeconfig ${path}; if not, start one with \`tenure sandbox\``
    : `To try it without a cluster, run \`tenure sandbox\` and pass --kubeconfig ${path}`;
  return (
    "Cannot find a Kubernetes cluster: --kubeconfig and KUBECONFIG are not set, ~/.kube/config does not exist, and this is " +
    `not a pod. ${advice}`
  );
}

async function fromSandbox(sandbox: string, platform: Platform): Promise<ClusterConfig> {
  if (/^https?:\/\//i.test(sandbox)) return fromUrl(sandbox, platform);
  const { stat } = await import("node:fs/promises");
  const found = await stat(`${sandbox}/token`).catch(() => undefined);
  if (!found?.isFile()) {
    throw new CliError(
      "Usage",
      `Cannot use --sandbox ${sandbox}: it is neither a URL nor a directory with a token file. Start a sandbox with ` +
        "`tenure sandbox` and pass the URL that it prints",
    );
  }
  const env = await addressFor(sandbox, platform);
  return loadConfig({ inCluster: true, serviceAccountDir: sandbox, platform: kubePlatformOf(platform, env) });
}

/** The address of the server for which the credentials in a directory are. The directory itself does not contain it. */
async function addressFor(directory: string, platform: Platform): Promise<Record<string, string>> {
  const host = platform.env("KUBERNETES_SERVICE_HOST");
  if (host) return {};
  const written = await sandboxConfig(platform);
  if (!written) {
    throw new CliError(
      "Usage",
      `Cannot find the sandbox for ${directory}: set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, or start it with ` +
        `\`tenure sandbox\`, which writes its address to ${defaultKubeconfigPath(platform)}`,
    );
  }
  const { hostname, port } = new URL(written.server);
  return { KUBERNETES_SERVICE_HOST: hostname.replace(/[[\]]/g, ""), KUBERNETES_SERVICE_PORT: port || "443" };
}

async function fromUrl(text: string, platform: Platform): Promise<ClusterConfig> {
  if (!URL.canParse(text))
    throw new CliError("Usage", `--sandbox must be a URL or a directory, but is ${JSON.stringify(text)}`);
  const { origin, protocol } = new URL(text);
  const written = await sandboxConfig(platform);
  if (written && new URL(written.server).origin === origin) return written;
  if (protocol === "https:") {
    const found = written ? `belongs to another sandbox, at ${written.server}` : "does not exist";
    throw new CliError(
      "Usage",
      `Cannot trust the sandbox at ${origin}: ${defaultKubeconfigPath(platform)} ${found}. Pass the kubeconfig that the ` +
        "sandbox wrote with --kubeconfig",
    );
  }
  // A sandbox that was started with --no-tls --anonymous needs no credentials.
  const nobody = { headers: async () => ({}), tls: async () => ({}), refresh: async () => {} };
  return { server: origin, credentials: nobody };
}

/** The administrator's configuration that the last `tenure sandbox` wrote, if it exists and can be read. */
async function sandboxConfig(platform: Platform): Promise<ClusterConfig | undefined> {
  try {
    const kubeconfig = defaultKubeconfigPath(platform);
    return await loadConfig({ kubeconfig, platform: kubePlatformOf(platform) });
  } catch {
    return undefined;
  }
}
