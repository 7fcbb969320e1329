/**
 * The machine as the client sees it: environment, files and credential plugins. Each process gets its credentials in one of the
 * ways that users configure. Reading a file or running a plugin can take long.
 */
import { type ClusterConfig, fromClientNode, loadConfig } from "@tenure/kube";
import type { Platform } from "@tenure/kube/internal";
import type { Random } from "../random.ts";
import type { Accounts } from "./accounts.ts";
import { namespace } from "./objects.ts";

export const credentialKinds = [
  "service-account",
  "token",
  "token-file",
  "certificate",
  "certificate-files",
  "exec",
  "exec-certificate",
  "basic",
  "client-node",
] as const;

export type CredentialKind = (typeof credentialKinds)[number];

export interface PodParts {
  readonly kind: CredentialKind;
  readonly clock: Platform["clock"];
  readonly http: NonNullable<Platform["http"]>;
  readonly random: Random;
  readonly accounts: Accounts;
  /** How long a file or a plugin takes now. */
  readonly slowMs: () => number;
  /** Resolves after a time of the machine, or never if it is dead. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** Where the kubeconfig is, and what the client is told about it. */
interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  readonly options: { readonly kubeconfig?: string; readonly context?: string };
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
const folder = "/home/sim/.kube";
const authority = "-----BEGIN CERTIFICATE-----\nauthority";
const execVersion = "client.authentication.k8s.io/v1";

/** The platform of one process, and its way to the configuration of the cluster. */
export function podOf(parts: PodParts): { platform: Platform; load: () => Promise<ClusterConfig> } {
  const { kind, clock, http, random, accounts, slowMs, sleep } = parts;
  const place = kind === "service-account" ? inCluster() : kubeconfigPlace(kind, random);
  // A pod may start before its token is mounted.
  const mountedMs = clock.now().monoMs + (random.chance(0.2) ? random.between(0, 3_000) : 0);
  const rotating: Readonly<Record<string, () => string>> = {
    [`${accountFolder}/token`]: () => (clock.now().monoMs < mountedMs ? "" : accounts.token),
    [`${folder}/token`]: () => accounts.token,
    [`${folder}/client.crt`]: () => accounts.certificate,
  };
  const platform: Platform = {
    clock,
    random: random.next,
    env: { ...place.env, ...proxyEnvironment(random) },
    isTerminal: () => false,
    readFile: async (path) => {
      if (slowMs() > 0) await sleep(slowMs());
      const content = rotating[path]?.() ?? place.files[path];
      if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return content;
    },
    runProcess: async (_command, _args, { signal }) => {
      // The plugin is killed when the client gives up on it.
      const killed = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
      await Promise.race([sleep(random.between(20, 400) + slowMs()), killed]);
      if (random.chance(0.05))
        return { exitCode: 1, stdout: "", stderr: "cannot reach the identity provider" };
      return { exitCode: 0, stdout: execCredential(parts), stderr: "" };
    },
    http,
  };
  const load =
    kind === "client-node"
      ? async () => fromClientNode(clientNodeConfig(parts), { platform })
      : () => loadConfig({ ...place.options, platform });
  return { platform, load };
}

function inCluster(): Place {
  return {
    env: { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
    files: { [`${accountFolder}/ca.crt`]: authority, [`${accountFolder}/namespace`]: namespace },
    options: {},
  };
}

/** In a company network there often is a proxy, which is not for the cluster. */
function proxyEnvironment(random: Random): Record<string, string> {
  if (random.chance(0.7)) return {};
  const byName = "10.0.0.1,api.example.com:6443,rancher.example.com";
  const NO_PROXY = random.pick(["10.0.0.0/8,.example.com", byName, "*"]);
  return { HTTPS_PROXY: "http://proxy.example.com:3128", NO_PROXY };
}

const users: Readonly<Record<Exclude<CredentialKind, "service-account" | "client-node">, string>> = {
  token: "token: fixed-token",
  "token-file": "tokenFile: token",
  certificate: `client-certificate-data: ${base64("-----BEGIN CERTIFICATE-----\nfixed")}, client-key-data: ${base64("-----BEGIN KEY-----")}`,
  "certificate-files": "client-certificate: client.crt, client-key: client.key",
  exec: `exec: {apiVersion: ${execVersion}, command: get-token, args: [--cluster, sim], env: [{name: PROFILE, value: sim}], interactiveMode: IfAvailable, provideClusterInfo: true}`,
  "exec-certificate": `exec: {apiVersion: ${execVersion}beta1, command: ./get-certificate}`,
  basic: "username: sim, password: secret, as: sim-candidate, as-groups: [electors]",
};

function kubeconfigPlace(kind: CredentialKind, random: Random): Place {
  const trust = random.pick([
    "certificate-authority: ca.crt",
    `certificate-authority-data: ${base64(authority)}, tls-server-name: kubernetes`,
    "insecure-skip-tls-verify: true",
  ]);
  const server = random.pick([
    "https://api.example.com:6443",
    "https://rancher.example.com/k8s/clusters/sim",
  ]);
  const clusters = `clusters:\n- {name: c, cluster: {server: "${server}", ${trust}}}\n`;
  const user = kind in users ? users[kind as keyof typeof users] : "token: fixed-token";
  const others = `users:\n- {name: u, user: {${user}}}\ncontexts:\n- {name: x, context: {cluster: c, user: u, namespace: ${namespace}}}\n`;
  const whole = `${clusters}${others}current-context: x\n`;
  const files = {
    [`${folder}/client.key`]: "-----BEGIN KEY-----",
    [`${folder}/ca.crt`]: authority,
    [`${folder}/config`]: whole,
  };
  switch (random.integer(0, 2)) {
    case 0:
      return { env: { HOME: "/home/sim" }, files, options: {} };
    case 1:
      // As kubectl does, the client merges the files and skips one that is missing.
      return {
        env: { KUBECONFIG: `${folder}/missing:${folder}/clusters:${folder}/users` },
        files: {
          ...files,
          [`${folder}/clusters`]: clusters,
          [`${folder}/users`]: `${others}current-context: x\n`,
        },
        options: {},
      };
    default:
      return {
        env: {},
        files: { ...files, [`${folder}/other`]: `${clusters}${others}` },
        options: { kubeconfig: `${folder}/other`, context: "x" },
      };
  }
}

function execCredential({ kind, clock, random, accounts }: PodParts): string {
  const isCertificate = kind === "exec-certificate";
  const credential = isCertificate
    ? { clientCertificateData: accounts.certificate, clientKeyData: "-----BEGIN KEY-----" }
    : { token: accounts.token };
  const expiresMs = clock.now().wallMs + random.between(10_000, 120_000);
  const status = { ...credential, expirationTimestamp: new Date(expiresMs).toISOString() };
  const apiVersion = isCertificate ? `${execVersion}beta1` : execVersion;
  return JSON.stringify({ apiVersion, kind: "ExecCredential", status });
}

/** A `KubeConfig` of @kubernetes/client-node, as far as the client uses it. */
function clientNodeConfig({ accounts, slowMs, sleep }: PodParts) {
  return {
    getCurrentContext: () => "x",
    getContextObject: () => ({ namespace }),
    getCurrentCluster: () => ({ server: "https://api.example.com:6443", skipTLSVerify: false }),
    applyToHTTPSOptions: async (options: { headers?: Record<string, unknown>; ca?: unknown }) => {
      if (slowMs() > 0) await sleep(slowMs());
      options.headers = { Authorization: `Bearer ${accounts.token}` };
      options.ca = Buffer.from(authority);
    },
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
