/** Starts a watch against a real server, for tests of the watch. */
import { KubeClient } from "../client.ts";
import type { Credentials } from "../config.ts";
import type { KubeError } from "../errors.ts";
import type { WatchRequest } from "../request-types.ts";
import { ApiServer, type Seen, status } from "./api-server.ts";
import { FakePlatform, fixedCredentials } from "./fake-platform.ts";

type Lease = { metadata: { name?: string; resourceVersion: string } };

export const path = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";
const query = { fieldSelector: "metadata.name=my-lock" };
export const event = (type: string, resourceVersion: string, extra: object = {}): string =>
  `${JSON.stringify({ type, object: { metadata: { resourceVersion, ...extra } } })}\n`;
export const errorEvent = (code: number, reason: string): string =>
  `${JSON.stringify({ type: "ERROR", object: status(code, reason, reason) })}\n`;

const cleanups: (() => unknown)[] = [];
/** For afterEach. */
export async function endWatches(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** Every callback adds an entry to `log`. `logged(n)` waits until there are n entries. */
export async function startWatch(
  handler: (seen: Seen) => void,
  options: Partial<WatchRequest<Lease>> & { credentials?: Credentials } = {},
) {
  const server = await ApiServer.start(handler);
  const platform = new FakePlatform();
  const client = new KubeClient(
    { server: server.url, credentials: options.credentials ?? fixedCredentials() },
    { platform },
  );
  const controller = new AbortController();
  const log: string[] = [];
  const errors: KubeError[] = [];
  const waiters: (() => void)[] = [];
  const add = (text: string): void => {
    log.push(text);
    for (const wake of waiters.splice(0)) wake();
  };
  const logged = async (count: number): Promise<string[]> => {
    while (log.length < count) await new Promise<void>((resolve) => waiters.push(resolve));
    return log;
  };
  const ended = client.watch<Lease>({
    path,
    query,
    signal: controller.signal,
    onEvent: ({ type, object }) => add(`${type} ${object.metadata.resourceVersion}`),
    onUp: ({ resumed }) => add(resumed ? "up again" : "up"),
    onDown: (error) => {
      errors.push(error);
      add(`down ${error.code}`);
    },
    ...options,
  });
  cleanups.push(
    () => server.close(),
    () => client.close(),
    () => controller.abort(),
  );
  return { server, platform, client, controller, log, logged, ended, errors };
}

export const open = ({ response }: Seen, ...lines: string[]): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
  for (const line of lines) response.write(line);
};
export const requestedVersion = (seen: Seen): string | null => seen.url.searchParams.get("resourceVersion");
