/**
 * Uses a `KubeConfig` of @kubernetes/client-node, with all authenticators that were added to it, so that nothing needs to be
 * configured twice. It relies on the shape of that object and does not import the package.
 * It cannot clear a token that client-node caches: after a 401 it only asks client-node again.
 */
import { messageOf } from "@tenure/base";
import type { ClusterConfig, TlsMaterial } from "./config.ts";
import { KubeError } from "./errors.ts";
import { type Platform, systemPlatform } from "./platform.ts";

type Pem = string | Uint8Array | null | undefined;

type HttpsOptions = {
  headers?: Record<string, unknown>;
  auth?: string | null;
  ca?: unknown;
  cert?: unknown;
  key?: unknown;
};

/** The part of client-node's `KubeConfig` that is used. */
export type ClientNodeKubeConfig = {
  getCurrentContext(): string;
  getContextObject(name: string): { readonly namespace?: string | undefined } | null;
  getCurrentCluster(): {
    readonly server: string;
    readonly skipTLSVerify?: boolean | undefined;
    readonly tlsServerName?: string | undefined;
    readonly proxyUrl?: string | undefined;
  } | null;
  // A method, so that the stricter parameter type of the real class is still assignable.
  applyToHTTPSOptions(options: object): Promise<void>;
};

/** client-node reads certificate files synchronously on every call. A renewal every few seconds does not need that. */
const cacheMs = 10_000;

export function fromClientNode(
  kubeConfig: ClientNodeKubeConfig,
  { platform = systemPlatform }: { platform?: Platform | undefined } = {},
): ClusterConfig {
  const context = kubeConfig.getCurrentContext();
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null || cluster === undefined) {
    throw new KubeError(
      "BadConfig",
      `Cannot use this KubeConfig: its current context "${context}" has no cluster. Call loadFromDefault() or setCurrentContext() first.`,
    );
  }
  let cached: { readonly atMs: number; readonly options: Promise<HttpsOptions> } | undefined;
  const fetchOptions = async (): Promise<HttpsOptions> => {
    const applied: HttpsOptions = { headers: {} };
    try {
      await kubeConfig.applyToHTTPSOptions(applied);
    } catch (error) {
      cached = undefined;
      throw new KubeError(
        "BadConfig",
        `Cannot get credentials from the KubeConfig of @kubernetes/client-node (context "${context}"): ${messageOf(error)}`,
        { cause: error },
      );
    }
    return applied;
  };
  const current = (): Promise<HttpsOptions> => {
    const { monoMs } = platform.clock.now();
    if (cached === undefined || monoMs - cached.atMs >= cacheMs) {
      cached = { atMs: monoMs, options: fetchOptions() };
    }
    return cached.options;
  };
  return {
    server: cluster.server,
    namespace: kubeConfig.getContextObject(context)?.namespace,
    skipTlsVerify: cluster.skipTLSVerify === true,
    tlsServerName: cluster.tlsServerName,
    proxyUrl: cluster.proxyUrl,
    credentials: {
      async headers() {
        const { headers, auth } = await current();
        const result: Record<string, string> = {};
        for (const [name, value] of Object.entries(headers ?? {})) result[name] = String(value);
        if (auth) result.Authorization ??= `Basic ${Buffer.from(auth).toString("base64")}`;
        return result;
      },
      async tls(): Promise<TlsMaterial> {
        const { ca, cert, key } = await current();
        return { ca: text(ca as Pem), cert: text(cert as Pem), key: text(key as Pem) };
      },
      async refresh() {
        cached = undefined;
      },
    },
  };
}

function text(pem: Pem): string | undefined {
  if (pem === null || pem === undefined) return undefined;
  return typeof pem === "string" ? pem : new TextDecoder().decode(pem);
}
