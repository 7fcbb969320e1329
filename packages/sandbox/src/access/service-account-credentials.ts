/**
 * The files that a pod finds mounted (token, ca.crt and namespace of its ServiceAccount), so that code that reads
 * in-cluster credentials works with the sandbox too.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../errors.ts";
import { keyOf } from "../objects/kind.ts";
import { serviceAccount } from "../objects/kinds/config.ts";
import { namespace as namespaceKind } from "../objects/kinds/namespace.ts";
import { formatTime } from "../objects/time.ts";
import type { Platform } from "../platform.ts";
import type { Store } from "../store/store.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";

export interface ServiceAccountCredentials {
  token: string;
  /** Holds the files token, ca.crt and namespace. It is removed when the sandbox closes. */
  directory: string;
  /** The environment variables of such a pod. */
  env: { KUBERNETES_SERVICE_HOST: string; KUBERNETES_SERVICE_PORT: string };
}

interface Request {
  cluster: { store: Store; platform: Platform; tokens: ServiceAccountTokens };
  url: string;
  caPem: string;
  namespace: string;
  name: string;
  directory: string;
}

const tokenExpirySeconds = 365 * 24 * 3600;

export async function serviceAccountCredentials(request: Request): Promise<ServiceAccountCredentials> {
  const { cluster, url, caPem, namespace, name, directory } = request;
  const { store, platform, tokens } = cluster;
  if (!store.get(keyOf(namespaceKind, "", namespace))) {
    throw new SandboxError(
      "INVALID_OPTION",
      `Cannot create the ServiceAccount ${name} as the namespace ${namespace} does not exist: create the namespace first`,
    );
  }
  const { uid } = await ensureServiceAccount(store, platform, namespace, name);
  const { token } = tokens.issue({ namespace, name, uid, seconds: tokenExpirySeconds });
  await Promise.all([
    writeFile(join(directory, "token"), token, { mode: 0o600 }),
    writeFile(join(directory, "ca.crt"), caPem),
    writeFile(join(directory, "namespace"), namespace),
  ]);
  const { hostname, port } = new URL(url);
  const env = { KUBERNETES_SERVICE_HOST: hostname.replace(/[[\]]/g, ""), KUBERNETES_SERVICE_PORT: port };
  return { token, directory, env };
}

/** Creates a ServiceAccount if it does not exist. */
export async function ensureServiceAccount(
  store: Store,
  platform: Platform,
  namespace: string,
  name: string,
): Promise<{ uid: string }> {
  const stored = await store.commit(keyOf(serviceAccount, namespace, name), (current) => {
    if (current) return undefined;
    const creationTimestamp = formatTime(platform.clock.now().wallMs);
    const metadata = { name, namespace, uid: platform.uuid(), creationTimestamp };
    return { kind: "ServiceAccount", apiVersion: "v1", metadata };
  });
  return { uid: stored?.value.metadata.uid as string };
}
