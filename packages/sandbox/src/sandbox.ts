/** The public API of the library: starts a sandbox. */

import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after } from "@tenure/base";
import { type KeyAndCertificate, newClientCertificate, newServerCertificate } from "./access/certificate.ts";
import {
  type ServiceAccountCredentials,
  serviceAccountCredentials,
} from "./access/service-account-credentials.ts";
import { apiServerAddress } from "./control/bootstrap.ts";
import { openCluster, type RunningCluster } from "./control/cluster.ts";
import type { Faults } from "./control/fault.ts";
import { FaultInjector } from "./control/fault-injector.ts";
import { kubeconfig } from "./control/kubeconfig.ts";
import { SandboxError } from "./errors.ts";
import { makeTemporaryDirectory, type Platform, systemPlatform } from "./platform.ts";
import { openStore } from "./store/open.ts";
import type { Store } from "./store/store.ts";
import { ApiServer } from "./wire/server.ts";

export interface SandboxOptions {
  /** 0 picks a free port. @default 0 */
  port?: number;
  /**
   * Address to listen on. Other machines can connect to an address other than loopback, but still need a token.
   * @default "127.0.0.1"
   */
  host?: string;
  /** Additional host names and addresses of the server, for its certificate. @default [] */
  hostNames?: string[];
  /** Directory that keeps all data across restarts. @default in memory only */
  dataDir?: string;
  /** Whether to serve HTTPS, with a CA of the sandbox, instead of plain HTTP. @default true */
  tls?: boolean;
  /**
   * Whether requests without credentials may do everything, except requests of web pages. It is a property of this
   * server, and not kept with the data. @default false
   */
  anonymous?: boolean;
  /** A store to share with another sandbox. Both then act as API servers of one cluster. @default a new store */
  store?: Store;
  /** Clock, timers and randomness. @default the ones of the system */
  platform?: Platform;
}

export interface Sandbox {
  /** For example `https://127.0.0.1:40123`. */
  readonly url: string;
  readonly port: number;
  /** The certificate of the CA, as PEM. Empty without TLS. */
  readonly caPem: string;
  /** A bearer token that may do everything. */
  readonly adminToken: string;
  /** A kubeconfig with that token, as YAML. */
  readonly kubeconfig: string;
  /** The store, to share with another sandbox. */
  readonly store: Store;
  /** Faults to inject. */
  readonly faults: Faults;
  /** Writes the kubeconfig. Only the owner of the file can read it. */
  writeKubeconfig(path: string): Promise<void>;
  /** Creates a ServiceAccount if it does not exist, and a directory with token, ca.crt and namespace, as in a pod. */
  serviceAccount(namespace: string, name: string): Promise<ServiceAccountCredentials>;
  /** Issues a client certificate. Its common name is the user, and its organizations are the groups. */
  clientCertificate(user: string, groups?: string[]): KeyAndCertificate;
  /** Drops the history of changes. Watches from an older revision get 410. */
  compact(): void;
  /** Closes all connections and starts again, with the same port and the same data. */
  restart(): Promise<void>;
  /** Resolves when the controllers (garbage collection, namespaces) have nothing left to do. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const restartDelayMs = 50;
const clusterNames = ["kubernetes", "kubernetes.default", "kubernetes.default.svc"];
/** Pods reach the API by the address of the service "kubernetes". */
const alwaysValidNames = ["localhost", "127.0.0.1", "::1", apiServerAddress, ...clusterNames];

/** Starts a Kubernetes API in this process. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  checkOptions(options);
  const { port = 0, host = "127.0.0.1", hostNames = [], tls = true, platform = systemPlatform } = options;
  const store = options.store ?? (await openStore(options.dataDir));
  const cluster = await openCluster(store, platform);
  const faults = new FaultInjector(platform);
  const temporaryDirectories = new TemporaryDirectories();
  const names = new Set([...alwaysValidNames, host, ...hostNames]);
  const certificate = tls
    ? {
        server: newServerCertificate(cluster.authority, [...names], platform),
        authorityPem: cluster.authority.certificatePem,
      }
    : undefined;
  const openNames = options.anonymous ? names : undefined;
  const server = new ApiServer(cluster, { faults, restartSoon }, { host, port, tls: certificate, openNames });

  let closed = false;
  let restarting: Promise<void> = Promise.resolve();
  function restart(): Promise<void> {
    if (closed)
      return Promise.reject(new SandboxError("CLOSED", "Cannot restart the sandbox as it is closed"));
    restarting = restarting.then(async () => {
      await server.close();
      await server.listen();
    });
    return restarting;
  }
  /** The delay gives the server time to send the response first. */
  function restartSoon() {
    after(platform.clock, restartDelayMs, () => {
      if (!closed) void restart();
    });
  }
  try {
    await server.listen();
  } catch (error) {
    if (!options.store) await shutDown(cluster);
    throw error;
  }

  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const url = `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${server.port}`;
  const caPem = tls ? cluster.authority.certificatePem : "";
  const config = kubeconfig({ url, caPem, token: cluster.adminToken });
  return {
    url,
    port: server.port,
    caPem,
    adminToken: cluster.adminToken,
    kubeconfig: config,
    store,
    faults,
    async writeKubeconfig(path) {
      // Rename a temporary file: no reader sees half a file, and the permissions of an older file are not kept.
      const temporary = `${path}.${platform.uuid()}`;
      await mkdir(dirname(path), { recursive: true });
      await writeFile(temporary, config, { mode: 0o600 });
      await rename(temporary, path);
    },
    serviceAccount: async (namespace, name) =>
      serviceAccountCredentials({
        cluster,
        url,
        caPem,
        namespace,
        name,
        directory: await temporaryDirectories.create(),
      }),
    clientCertificate: (user, groups = []) =>
      newClientCertificate(cluster.authority, { commonName: user, organizations: groups }, platform),
    compact: () => store.compact(),
    restart,
    settled: () => cluster.settled(),
    async close() {
      if (closed) return;
      closed = true;
      await restarting.catch(() => undefined);
      await server.close();
      await temporaryDirectories.remove();
      if (!options.store) await shutDown(cluster);
    },
  };
}

async function shutDown(cluster: RunningCluster): Promise<void> {
  cluster.stop();
  await cluster.settled();
  await cluster.store.close();
}

/** A temporary directory, removed when the sandbox closes. */
class TemporaryDirectories {
  #root: Promise<string> | undefined;
  #count = 0;

  async create(): Promise<string> {
    this.#root ??= makeTemporaryDirectory("tenure-sandbox-");
    const path = join(await this.#root, String(++this.#count));
    await mkdir(path);
    return path;
  }

  async remove(): Promise<void> {
    if (this.#root) await rm(await this.#root, { recursive: true, force: true });
  }
}

function checkOptions({ port, host, dataDir, store }: SandboxOptions): void {
  const problems: string[] = [];
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65535)) {
    problems.push(`port must be a whole number from 0 to 65535: ${port}`);
  }
  if (host === "") problems.push("host must not be empty");
  if (dataDir !== undefined && store !== undefined) problems.push("dataDir and store cannot be combined");
  if (problems.length > 0)
    throw new SandboxError("INVALID_OPTION", `Cannot start the sandbox as ${problems.join("; ")}`);
}
