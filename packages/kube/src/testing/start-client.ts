/** Starts a client and a real server, for tests of requests. */
import { KubeClient, type KubeClientOptions } from "../client.ts";
import type { ClusterConfig } from "../config.ts";
import type { KubeError } from "../errors.ts";
import type { KubeRequest } from "../request-types.ts";
import { ApiServer, type Seen, sendJson } from "./api-server.ts";
import { FakePlatform, fixedCredentials } from "./fake-platform.ts";

export const path = "/apis/coordination.k8s.io/v1/namespaces/prod/leases/my-lock";
export const get: KubeRequest = { method: "GET", path };
export const put: KubeRequest = { method: "PUT", path, body: { kind: "Lease" } };

/** `endRequests` calls these, last first. */
export const cleanups: (() => unknown)[] = [];
/** For afterEach. */
export async function endRequests(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export async function startClient(
  handler: (seen: Seen) => void,
  config: Partial<ClusterConfig> = {},
  options: KubeClientOptions = {},
) {
  const server = await ApiServer.start(handler);
  const platform = new FakePlatform();
  const client = new KubeClient(
    { server: server.url, credentials: fixedCredentials(), ...config },
    { platform, userAgent: "test/1", ...options },
  );
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  return { server, platform, client };
}

export const failure = async (promise: Promise<unknown>): Promise<KubeError> => {
  try {
    await promise;
  } catch (error) {
    return error as KubeError;
  }
  throw new Error("expected a rejection");
};

export const ok = (seen: Seen): void => sendJson(seen, 200, { kind: "Lease" });
