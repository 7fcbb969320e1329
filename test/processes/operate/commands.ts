/** The built command as a process, and a cluster with locks to operate on. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly ran: Promise<Ran>;
  /** Lines of stdout so far. */
  readonly lines: string[];
  /** The first line that matches. Rejects if the command exits before. */
  line(pattern: RegExp): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

/** An environment without a cluster. */
function environment(more: Record<string, string>): Record<string, string> {
  const { PATH = "" } = process.env;
  return { PATH, HOME: "/nonexistent", ...more };
}

const running = new Set<ChildProcess>();

/** Ends the processes that a failed test left. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

export function start(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [command, ...args], { env: environment(env) });
  running.add(child);
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let out = "";
  let err = "";
  let isOver = false;
  const wake = () => {
    for (const check of waiting) check();
  };
  child.stdout.on("data", (chunk) => {
    out += chunk;
    lines.splice(0, lines.length, ...out.split("\n").slice(0, -1));
    wake();
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  const ran = new Promise<Ran>((resolve) => {
    child.on("close", (code) => {
      isOver = true;
      running.delete(child);
      resolve({ code, out, err });
      wake();
    });
  });
  return {
    ran,
    lines,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined && !isOver) return;
          waiting.delete(check);
          if (found === undefined) reject(new Error(`it ended without ${pattern}: ${out}${err}`));
          else resolve(found);
        };
        waiting.add(check);
        check();
      }),
    kill: (signal) => void child.kill(signal),
  };
}

/** The administrator's kubeconfig of a cluster to use instead of the sandbox. */
const given = process.env.TENURE_CONFORMANCE_KUBECONFIG;

export class TestCluster {
  readonly client: KubeClient;
  readonly kubeconfig: string;
  readonly folder: string;
  readonly #sandbox: Sandbox | undefined;

  private constructor(sandbox: Sandbox | undefined, kubeconfig: string, folder: string) {
    this.#sandbox = sandbox;
    this.client = new KubeClient(() => loadConfig({ kubeconfig }));
    this.kubeconfig = kubeconfig;
    this.folder = folder;
  }

  static async start(): Promise<TestCluster> {
    const folder = await mkdtemp(join(tmpdir(), "tenure-operate-"));
    if (given !== undefined) return new TestCluster(undefined, given, folder);
    const sandbox = await startSandbox();
    const kubeconfig = join(folder, "kubeconfig");
    await sandbox.writeKubeconfig(kubeconfig);
    return new TestCluster(sandbox, kubeconfig, folder);
  }

  get sandbox(): Sandbox {
    if (!this.#sandbox)
      throw new Error("this test needs a sandbox: TENURE_CONFORMANCE_KUBECONFIG must not be set");
    return this.#sandbox;
  }

  /** Runs the command as the administrator until it exits. */
  tenure(...args: string[]): Promise<Ran> {
    return start([...args, "--kubeconfig", this.kubeconfig]).ran;
  }

  start(...args: string[]): Running {
    return start([...args, "--kubeconfig", this.kubeconfig]);
  }

  async namespace(name: string): Promise<string> {
    await this.create("/api/v1/namespaces", { metadata: { name } });
    return name;
  }

  create<T = object>(path: string, body: object): Promise<T> {
    return this.client.request<T>({ method: "POST", path, body });
  }

  async close(): Promise<void> {
    this.client.close();
    await this.#sandbox?.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const leases = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

export const microTime = (agoMs = 0) => new Date(Date.now() - agoMs).toISOString().replace("Z", "000Z");

/** A record as a holder writes it. */
export function record(holderIdentity: string, more: object = {}): object {
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: microTime(),
    renewTime: microTime(),
    leaseTransitions: 0,
    ...more,
  };
}
