/** For tests: a sandbox with pods, a client whose requests can be held back, and a watch that records every change. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, type KubeRequest, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import type { GateTerm } from "../gate.ts";
import type { KubeObject } from "../gates/objects.ts";

// biome-ignore lint/suspicious/noExplicitAny: API objects of any shape; each test states what it expects
export type Any = any;

export interface Cluster {
  readonly sandbox: Sandbox;
  /** Has all permissions. */
  readonly client: KubeClient;
  readonly namespace: string;
  addPod(name: string, metadata?: object): Promise<KubeObject>;
  addService(name: string, spec?: object): Promise<void>;
  get(path: string): Promise<Any>;
  patch(path: string, body: object): Promise<Any>;
  remove(path: string): Promise<void>;
  /** A client of a ServiceAccount that has only these rules. */
  restricted(rules: readonly object[]): Promise<KubeClient>;
  close(): Promise<void>;
}

export const pods = (namespace: string, name = "") => `/api/v1/namespaces/${namespace}/pods/${name}`;
export const slices = (namespace: string, name: string) =>
  `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/${name}`;
export const configMaps = (namespace: string, name: string) =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;

export async function startCluster(): Promise<Cluster> {
  const sandbox = await startSandbox();
  const folder = await mkdtemp(join(tmpdir(), "tenure-traffic-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, sandbox.kubeconfig);
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  const clients = [client];
  const namespace = "prod";
  let accounts = 0;
  const post = (path: string, body: object) => client.request<Any>({ method: "POST", path, body });
  await post("/api/v1/namespaces", { metadata: { name: namespace } });
  return {
    sandbox,
    client,
    namespace,
    addPod: (name, metadata = {}) =>
      post(`/api/v1/namespaces/${namespace}/pods`, {
        metadata: { name, ...metadata },
        spec: { containers: [{ name: "app", image: "app:1" }] },
      }),
    addService: (name, spec = { ports: [{ port: 80, targetPort: 8080 }] }) =>
      post(`/api/v1/namespaces/${namespace}/services`, { metadata: { name }, spec }),
    get: (path) => client.request({ method: "GET", path }),
    patch: (path, body) =>
      client.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" }),
    remove: (path) => client.request({ method: "DELETE", path }),
    async restricted(rules) {
      const name = `candidate-${++accounts}`;
      const { directory } = await sandbox.serviceAccount(namespace, name);
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
      await post(`${roles}/roles`, { metadata: { name }, rules });
      await post(`${roles}/rolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
        subjects: [{ kind: "ServiceAccount", name, namespace }],
      });
      const { hostname, port } = new URL(sandbox.url);
      const { systemPlatform } = await import("@tenure/kube/internal");
      const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
      const made = new KubeClient(() =>
        loadConfig({
          inCluster: true,
          serviceAccountDir: directory,
          platform: { ...systemPlatform, env },
        }),
      );
      clients.push(made);
      return made;
    },
    async close() {
      for (const each of clients) each.close();
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A client that holds selected requests back and sends them later, even if the caller no longer waits for them. */
export class HoldingClient {
  readonly #client: KubeClient;
  readonly #held: { readonly go: () => void; readonly done: Promise<unknown> }[] = [];
  readonly sent: string[] = [];
  /** Selects the requests to hold back. */
  shouldHold: (request: KubeRequest) => boolean = () => false;
  onHeld = () => {};

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async request<T>(request: KubeRequest): Promise<T> {
    this.sent.push(`${request.method} ${request.path}`);
    if (!this.shouldHold(request)) return this.#client.request<T>(request);
    const { signal, ...rest } = request;
    let go = () => {};
    const executed = new Promise<void>((resolve) => {
      go = resolve;
    }).then(() => this.#client.request<T>(rest));
    this.#held.push({ go, done: executed.catch(() => {}) });
    this.onHeld();
    const aborted = new Promise<never>((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
    );
    return Promise.race([executed, aborted]);
  }

  /** Resolves when a request is held back. */
  untilHeld(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#held.length > 0) resolve();
      this.onHeld = resolve;
    });
  }

  /** Sends the requests that were held back, and resolves when the server has responded to all of them. */
  async sendHeld(): Promise<void> {
    this.shouldHold = () => false;
    const held = this.#held.splice(0);
    for (const { go } of held) go();
    await Promise.all(held.map(({ done }) => done));
  }
}

export function newTerm(
  token: number,
  { identity = "a", isValid = () => true, remainingMs = () => 10_000 }: Partial<GateTerm> = {},
): GateTerm {
  return { identity, token: BigInt(token), isValid, remainingMs };
}

/** Records every state of a collection with a watch. `describe` turns the objects into a state. */
export async function recordStates(
  client: KubeClient,
  path: string,
  describe: (objects: readonly KubeObject[]) => string,
): Promise<{ readonly seen: string[]; until(state: string): Promise<void>; end(): Promise<void> }> {
  const objects = new Map<string, KubeObject>();
  const seen: string[] = [];
  const controller = new AbortController();
  let changed = () => {};
  let up = () => {};
  const isUp = new Promise<void>((resolve) => {
    up = resolve;
  });
  const done = client.watch<KubeObject>({
    path,
    signal: controller.signal,
    onUp: () => up(),
    onDown: () => {},
    onEvent: ({ type, object }) => {
      const name = object.metadata.name ?? "";
      if (type === "DELETED") objects.delete(name);
      else objects.set(name, object);
      const state = describe([...objects.values()]);
      if (state !== seen.at(-1)) seen.push(state);
      changed();
    },
  });
  await isUp;
  return {
    seen,
    async until(state) {
      while (seen.at(-1) !== state) {
        await new Promise<void>((resolve) => {
          changed = resolve;
        });
      }
    },
    async end() {
      controller.abort();
      await done;
    },
  };
}

/** The sorted names of the pods that have the label `leader`. */
export function leadersAmong(objects: readonly KubeObject[]): string {
  return objects
    .filter(({ metadata }) => metadata.labels?.["tenure.dev/role"] === "leader")
    .map(({ metadata }) => metadata.name)
    .sort()
    .join("+");
}
