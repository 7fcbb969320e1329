/**
 * Which cluster a command talks to: --kubeconfig, --sandbox, or what kubectl would take. Where there is none, an error says
 * how to start one; nothing falls back in silence.
 */
import { type ClusterConfig, KubeClient, KubeError, loadConfig } from "@tenure/kube";
import { systemPlatform as kubePlatform } from "@tenure/kube/internal";
import { CliError } from "../errors.ts";
import { defaultKubeconfigPath, type Platform } from "../platform.ts";
import type { Connection, ConnectionFlags, ConnectOptions } from "./connection.ts";

export async function findCluster(
  flags: ConnectionFlags,
  platform: Platform,
  options: ConnectOptions,
): Promise<Connection> {
  const config = await explained(platform, () =>
    flags.sandbox === undefined
      ? fromKubeconfig(flags, platform, options)
      : fromSandbox(flags.sandbox, platform),
  );
  const namespace =
    flags.namespace ??
    (platform.env("NAMESPACE") || platform.env("POD_NAMESPACE") || config.namespace || "default");
  return { config, client: newClient(config, platform), namespace };
}

export function newClient(config: ClusterConfig, platform: Platform, userAgent = "tenure"): KubeClient {
  return new KubeClient(config, { userAgent, platform: machine(platform) });
}

function machine(platform: Platform, more: Record<string, string> = {}) {
  const env = { HOME: platform.homeDirectory(), ...platform.environment(), ...more };
  return { ...kubePlatform, env };
}

async function fromKubeconfig(
  { kubeconfig, context }: ConnectionFlags,
  platform: Platform,
  { signal, onWait }: ConnectOptions,
): Promise<ClusterConfig> {
  return loadConfig({ kubeconfig, context, signal, onWait, platform: machine(platform) });
}

async function fromSandbox(sandbox: string, platform: Platform): Promise<ClusterConfig> {
  if (/^https?:\/\//i.test(sandbox)) return fromUrl(sandbox, platform);
  const { stat } = await import("node:fs/promises");
  const found = await stat(`${sandbox}/token`).catch(() => undefined);
  if (!found?.isFile()) {
    throw new CliError(
      "USAGE",
      `Cannot use --sandbox ${sandbox}: it is no URL, and no directory with a file token in it. Start a sandbox with ` +
        "`tenure sandbox` and pass the URL that it prints",
    );
  }
  const env = await addressFor(sandbox, platform);
  return loadConfig({ inCluster: true, serviceAccountDir: sandbox, platform: machine(platform, env) });
}

/** Where the server is to which the credentials in a directory belong, which the directory does not say. */
async function addressFor(directory: string, platform: Platform): Promise<Record<string, string>> {
  const host = platform.env("KUBERNETES_SERVICE_HOST");
  if (host) return {};
  const written = await sandboxConfig(platform);
  if (!written) {
    throw new CliError(
      "USAGE",
      `Cannot tell where the sandbox of ${directory} is: set KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, or ` +
        `start it with \`tenure sandbox\`, which writes ${defaultKubeconfigPath(platform)}`,
    );
  }
  const { hostname, port } = new URL(written.server);
  return { KUBERNETES_SERVICE_HOST: hostname.replace(/[[\]]/g, ""), KUBERNETES_SERVICE_PORT: port || "443" };
}

async function fromUrl(text: string, platform: Platform): Promise<ClusterConfig> {
  if (!URL.canParse(text))
    throw new CliError("USAGE", `--sandbox must be a URL or a directory: ${JSON.stringify(text)}`);
  const { origin, protocol } = new URL(text);
  const written = await sandboxConfig(platform);
  if (written && new URL(written.server).origin === origin) return written;
  if (protocol === "https:") {
    throw new CliError(
      "USAGE",
      `Cannot trust the sandbox at ${origin}: ${defaultKubeconfigPath(platform)} is ` +
        `${written ? `of another one, at ${written.server}` : "not there"}. Pass the kubeconfig that it wrote, with --kubeconfig`,
    );
  }
  // Without TLS and without a token: a sandbox that was started with --no-tls --anonymous.
  const nobody = { headers: async () => ({}), tls: async () => ({}), refresh: async () => {} };
  return { server: origin, credentials: nobody };
}

/** The administrator's configuration that the last `tenure sandbox` wrote, if there is one that can be read. */
async function sandboxConfig(platform: Platform): Promise<ClusterConfig | undefined> {
  try {
    return await loadConfig({ kubeconfig: defaultKubeconfigPath(platform), platform: machine(platform) });
  } catch {
    return undefined;
  }
}

async function explained<T>(platform: Platform, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof KubeError) || error.code === "Aborted") throw error;
    if (error.code !== "NoConfig" || platform.env("KUBERNETES_SERVICE_HOST")) {
      throw new CliError("USAGE", sentence(error), { cause: error });
    }
    const path = defaultKubeconfigPath(platform);
    const isThere = (await sandboxConfig(platform)) !== undefined;
    const way = isThere
      ? `A sandbox wrote ${path}: if it still runs, pass --kubeconfig ${path}; else start one with \`tenure sandbox\``
      : `No cluster at hand? Start one with \`tenure sandbox\` and pass --kubeconfig ${path}`;
    throw new CliError(
      "USAGE",
      "Cannot find a Kubernetes cluster: there is no --kubeconfig, KUBECONFIG is not set, ~/.kube/config does not exist, " +
        `and this is not a pod. ${way}`,
      { cause: error },
    );
  }
}

function sentence({ message }: Error): string {
  return message
    .replace(/\bPass kubeconfig\b/, "Pass --kubeconfig")
    .replace(/\bpass kubeconfig\b/, "pass --kubeconfig");
}
