/** Pods of one Deployment, each a `tenure run` in its own process, and a witness of who receives traffic by one mode. */
import { existsSync, watch } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LockTarget } from "../../conformance/locks-target.ts";
import { type Replica, startTenure } from "../run/replicas.ts";
import { electionName, rules } from "./replicas.ts";
import { type Observation, Witness } from "./witness.ts";

export const modes = ["ready-file", "label", "endpointslice", "configmap"] as const;
export type Mode = (typeof modes)[number];

export interface Pod {
  readonly name: string;
  readonly replica: Replica;
}

/** Short, but long enough for a busy machine. */
const timings = ["--lease-duration=3s", "--renew-deadline=2s", "--retry-period=500ms"];
/** Works at once, and stops at once. */
const child = ["sleep", "1000"];

export class Pods {
  readonly #connection: LockTarget;
  readonly #mode: Mode;
  readonly #namespace: string;
  readonly #kubeconfig: string;
  readonly #folder: string;
  readonly #witness: Witness;
  readonly #files: Observation[] = [];
  readonly #stopFiles: () => void;
  readonly #all: Pod[] = [];
  #count = 0;

  private constructor(connection: LockTarget, mode: Mode, parts: readonly [string, string, string]) {
    this.#connection = connection;
    this.#mode = mode;
    [this.#namespace, this.#kubeconfig, this.#folder] = parts;
    this.#witness = new Witness(connection.kubeconfig);
    const watcher = watch(this.#folder, () => this.#look());
    this.#stopFiles = () => watcher.close();
  }

  static async open(connection: LockTarget, mode: Mode): Promise<Pods> {
    const { target } = connection;
    const namespace = await target.namespace();
    const kubeconfig = await connection.serviceAccount(namespace, rules);
    await target.request("POST", `/api/v1/namespaces/${namespace}/services`, {
      metadata: { name: electionName },
      spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
    });
    const folder = await mkdtemp(join(tmpdir(), "tenure-pods-"));
    const pods = new Pods(connection, mode, [namespace, kubeconfig, folder]);
    await pods.#witness.start(namespace);
    return pods;
  }

  /** Who received traffic, after every change. */
  get observations(): readonly Observation[] {
    const { label, slice, configMap } = this.#witness;
    return { "ready-file": this.#files, label, endpointslice: slice, configmap: configMap }[this.#mode];
  }

  /** Starts a pod. Resolves before its replica takes part. */
  async start(): Promise<Pod> {
    const number = ++this.#count;
    const name = `web-${number}`;
    const path = `/api/v1/namespaces/${this.#namespace}/pods`;
    const body = { metadata: { name }, spec: { containers: [{ name: "app", image: "app:1" }] } };
    const { status } = await this.#connection.target.request("POST", path, body);
    if (status !== 201) throw new Error(`cannot create pod ${name}: status ${status}`);
    const flags = ["--lease-lock-name", electionName, "--id", name, "--kubeconfig", this.#kubeconfig];
    const env = { POD_NAME: name, POD_IP: `10.1.0.${number}`, NAMESPACE: this.#namespace };
    const replica = startTenure(
      ["run", ...flags, ...timings, ...this.#modeFlags(name), "--log-format=json", "--", ...child],
      env,
    );
    const pod = { name, replica };
    this.#all.push(pod);
    return pod;
  }

  /** Starts a pod, and waits until it leads or follows. */
  async startAndJoin(): Promise<Pod> {
    const pod = await this.start();
    await Promise.any([pod.replica.logged("leading"), pod.replica.logged("leader-changed")]);
    return pod;
  }

  async remove({ name, replica }: Pod): Promise<void> {
    await replica.exit;
    await this.#connection.target.request("DELETE", `/api/v1/namespaces/${this.#namespace}/pods/${name}`);
  }

  /** Waits until one of these pods, and no other, receives traffic. */
  async inTraffic(pods: readonly Pod[]): Promise<Pod> {
    const found = () => {
      const last = this.observations.at(-1)?.pods ?? [];
      return last.length === 1 ? pods.find(({ name }) => name === last[0]) : undefined;
    };
    const wanted = `one of ${pods.map(({ name }) => name)} in traffic`;
    await this.#witness
      .until(() => found() !== undefined, wanted)
      .catch((error) => {
        throw new Error(
          `${error.message}; ${this.#mode}: ${this.observations.map((each) => `[${each.pods}]`)}`,
        );
      });
    return found() as Pod;
  }

  async close(): Promise<void> {
    this.#stopFiles();
    await this.#witness.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #readyFile(name: string): string {
    return join(this.#folder, name);
  }

  #modeFlags(name: string): string[] {
    return {
      "ready-file": ["--ready-file", this.#readyFile(name)],
      label: ["--label"],
      endpointslice: ["--service", electionName],
      configmap: ["--leader-configmap", "leader-config"],
    }[this.#mode];
  }

  #look(): void {
    const pods = this.#all.map(({ name }) => name).filter((name) => existsSync(this.#readyFile(name)));
    if (pods.join() === (this.#files.at(-1)?.pods ?? []).join()) return;
    this.#files.push({ atMs: performance.now(), wallMs: Date.now(), revision: 0n, pods });
    this.#witness.wake();
  }
}
