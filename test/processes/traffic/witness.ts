/** Sees by watches who is in traffic, in each of three ways, and when; and who holds the lease. */
import { KubeClient, loadConfig } from "@tenure/kube";
import type { Body } from "../../conformance/target.ts";
import { electionName } from "./replicas.ts";

export interface Sight {
  readonly atMs: number;
  readonly wallMs: number;
  /** Of the change, in the order of the whole store. */
  readonly revision: bigint;
  /** Which pods. */
  readonly pods: readonly string[];
}

export class Witness {
  readonly #client: KubeClient;
  readonly #controller = new AbortController();
  readonly #ends: Promise<void>[] = [];
  readonly #waiting = new Set<() => void>();
  readonly label: Sight[] = [];
  readonly slice: Sight[] = [];
  readonly configMap: Sight[] = [];
  /** The lease's holder. */
  readonly lease: Sight[] = [];

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

  /** The three ways of traffic. */
  get ways(): Readonly<Record<string, Sight[]>> {
    return { label: this.label, slice: this.slice, configMap: this.configMap };
  }

  /** Waits until it is so, which is looked at whenever something changed. */
  async until(isSo: () => boolean, what: string, withinMs = 20_000): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = () => {
        if (!isSo()) return;
        end();
        resolve();
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`it did not come to this within ${withinMs} ms: ${what}; ${this.last()}`));
      }, withinMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** In every way that pod, and no other. */
  isReached(pod: string): boolean {
    return Object.values(this.ways).every((sights) => sights.at(-1)?.pods.join() === pod);
  }

  last(): string {
    const all = { ...this.ways, lease: this.lease };
    return Object.entries(all)
      .map(([way, sights]) => `${way}: ${sights.at(-1)?.pods.join("+") || "nobody"}`)
      .join(", ");
  }

  async end(): Promise<void> {
    this.#controller.abort();
    await Promise.all(this.#ends);
    this.#client.close();
  }

  async #follow(
    sights: Sight[],
    path: string,
    query: Record<string, string>,
    look: (objects: Body[]) => string[],
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
          const pods = look([...objects.values()]);
          if (pods.join() !== (sights.at(-1)?.pods ?? []).join()) {
            const revision = BigInt(object.metadata.resourceVersion);
            sights.push({ atMs: performance.now(), wallMs: Date.now(), revision, pods });
          }
          for (const wake of [...this.#waiting]) wake();
        },
      });
      this.#ends.push(watching);
    });
  }
}
