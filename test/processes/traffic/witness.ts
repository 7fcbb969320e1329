/** Watches which pods are in traffic by each gate, and which pod holds the lease. */
import { KubeClient, loadConfig } from "@tenure/kube";
import type { Body } from "../../conformance/target.ts";
import { electionName } from "./replicas.ts";

export interface Observation {
  readonly atMs: number;
  readonly wallMs: number;
  /** The revision of the change, which orders all changes of the store. */
  readonly revision: bigint;
  readonly pods: readonly string[];
}

export class Witness {
  readonly #client: KubeClient;
  readonly #controller = new AbortController();
  readonly #ends: Promise<void>[] = [];
  readonly #waiting = new Set<() => void>();
  readonly label: Observation[] = [];
  readonly slice: Observation[] = [];
  readonly configMap: Observation[] = [];
  /** The holder of the lease. */
  readonly lease: Observation[] = [];

  constructor(kubeconfig: string) {
    this.#client = new KubeClient(() => loadConfig({ kubeconfig }));
  }

  async start(namespace: string): Promise<void> {
    const core = `/api/v1/namespaces/${namespace}`;
    const oneOf = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
    const labelled = ({ metadata }: Body) => metadata.labels?.["tenure.dev/role"] === "leader";
    await Promise.all([
      this.#follow(this.label, `${core}/pods`, {}, (pods) =>
        pods.filter(labelled).map(({ metadata }: Body) => metadata.name),
      ),
      this.#follow(
        this.slice,
        `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
        {},
        (slices) =>
          slices.flatMap(({ endpoints }: Body) =>
            (endpoints ?? []).map(({ targetRef }: Body) => targetRef.name),
          ),
      ),
      this.#follow(this.configMap, `${core}/configmaps`, oneOf("leader-config"), (maps) =>
        maps.map(({ data }: Body) => data.leader).filter(Boolean),
      ),
      this.#follow(
        this.lease,
        `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
        oneOf(electionName),
        (leases) => leases.map(({ spec }: Body) => spec.holderIdentity).filter(Boolean),
      ),
    ]);
  }

  /** The observations of each gate. */
  get gates(): Readonly<Record<string, Observation[]>> {
    return { label: this.label, slice: this.slice, configMap: this.configMap };
  }

  /** Waits until the condition holds. It is checked after every change. */
  async until(condition: () => boolean, description: string, withinMs = 20_000): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(check);
      };
      const check = () => {
        if (!condition()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`not seen within ${withinMs} ms: ${description}; ${this.last()}`));
      }, withinMs);
      this.#waiting.add(check);
      check();
    });
  }

  /** Checks the conditions again. For changes that are seen elsewhere. */
  wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  /** Whether every gate names this pod and no other. */
  isOnlyPod(pod: string): boolean {
    return Object.values(this.gates).every((observations) => observations.at(-1)?.pods.join() === pod);
  }

  last(): string {
    const all = { ...this.gates, lease: this.lease };
    return Object.entries(all)
      .map(([name, observations]) => `${name}: ${observations.at(-1)?.pods.join("+") || "nobody"}`)
      .join(", ");
  }

  async end(): Promise<void> {
    this.#controller.abort();
    await Promise.all(this.#ends);
    this.#client.close();
  }

  async #follow(
    observations: Observation[],
    path: string,
    query: Record<string, string>,
    podsOf: (objects: Body[]) => string[],
  ): Promise<void> {
    const objects = new Map<string, Body>();
    await new Promise<void>((resolve) => {
      const watching = this.#client.watch<Body>({
        path,
        query,
        signal: this.#controller.signal,
        onUp: () => resolve(),
        onDown: () => {},
        onEvent: ({ type, object }) => {
          if (type === "DELETED") objects.delete(object.metadata.name);
          else objects.set(object.metadata.name, object);
          const pods = podsOf([...objects.values()]);
          if (pods.join() !== (observations.at(-1)?.pods ?? []).join()) {
            const revision = BigInt(object.metadata.resourceVersion);
            observations.push({ atMs: performance.now(), wallMs: Date.now(), revision, pods });
          }
          this.wake();
        },
      });
      this.#ends.push(watching);
    });
  }
}
