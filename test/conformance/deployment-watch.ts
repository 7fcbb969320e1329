// Watches a Deployment and its pods, and judges at every event whether the bounds of its strategy hold.

import { type KubeClient, KubeError } from "@tenure/kube";
import type { Body } from "./target.ts";

interface Bounds {
  /** Pods that are neither finished nor being deleted. */
  most: number;
  /** Pods that are ready and not being deleted. */
  least: number;
}

export class DeploymentWatch {
  readonly #client: KubeClient;
  readonly #path: { deployment: string; deployments: string; pods: string; sets: string };
  readonly #stop = new AbortController();
  readonly #pods = new Map<string, Body>();
  readonly #watching: Promise<unknown>;
  #bounds: Bounds | undefined;
  #deployment: Body;
  #wake = (): void => {};
  readonly violations: string[] = [];

  constructor(client: KubeClient, namespace: string, name: string) {
    this.#client = client;
    const apps = `/apis/apps/v1/namespaces/${namespace}`;
    this.#path = {
      deployment: `${apps}/deployments/${name}`,
      deployments: `${apps}/deployments`,
      sets: `${apps}/replicasets`,
      pods: `/api/v1/namespaces/${namespace}/pods`,
    };
    const common = { signal: this.#stop.signal, onUp: () => {}, onDown: () => {} };
    this.#watching = Promise.all([
      client.watch<Body>({
        ...common,
        path: this.#path.pods,
        onEvent: ({ type, object }) => {
          if (type === "DELETED") this.#pods.delete(object.metadata.name);
          else this.#pods.set(object.metadata.name, object);
          this.#judge(`${type} pod ${object.metadata.name}`);
          this.#wake();
        },
      }),
      client.watch<Body>({
        ...common,
        path: this.#path.deployments,
        query: { fieldSelector: `metadata.name=${name}` },
        onEvent: ({ object }) => {
          this.#deployment = object;
          this.#wake();
        },
      }),
    ]);
  }

  /** From now on, and until the next call, these bounds hold at every event of a pod. */
  async expect(bounds: Bounds): Promise<void> {
    // The events of the Deployment may be ahead of those of its pods.
    const isWithin = () => this.active.length <= bounds.most && this.ready.length >= bounds.least;
    await this.until("within its bounds", isWithin);
    this.#bounds = bounds;
  }

  get active(): Body[] {
    return [...this.#pods.values()].filter(
      ({ metadata, status }) =>
        !metadata.deletionTimestamp && status?.phase !== "Failed" && status?.phase !== "Succeeded",
    );
  }

  get ready(): Body[] {
    return this.active.filter(({ status }) =>
      status?.conditions?.some(
        (condition: Body) => condition.type === "Ready" && condition.status === "True",
      ),
    );
  }

  /** All pods, also those that are being deleted. */
  get pods(): Body[] {
    return [...this.#pods.values()];
  }

  get deployment(): Body {
    return this.#deployment;
  }

  async create(body: Body): Promise<void> {
    await this.#client.request({ method: "POST", path: this.#path.deployments, body });
  }

  async patch(body: Body): Promise<Body> {
    const contentType = "application/strategic-merge-patch+json";
    return await this.#client.request({ method: "PATCH", path: this.#path.deployment, body, contentType });
  }

  async sets(): Promise<Body[]> {
    const { items } = await this.#client.request<Body>({ method: "GET", path: this.#path.sets });
    return items;
  }

  async delete(): Promise<void> {
    const body = { propagationPolicy: "Background" };
    await this.#client.request({ method: "DELETE", path: this.#path.deployment, body });
  }

  async isGone(): Promise<boolean> {
    try {
      await this.#client.request({ method: "GET", path: this.#path.deployment });
      return false;
    } catch (error) {
      return error instanceof KubeError && error.code === "NotFound";
    }
  }

  /** Resolves when the condition holds. */
  async until(what: string, condition: () => boolean, withinMs = 25_000): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, withinMs);
    try {
      while (!condition()) {
        if (isLate) throw new Error(`not ${what} within ${withinMs} ms: ${this.#describe()}`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** As `kubectl rollout status` decides. */
  async rolledOut(withinMs?: number): Promise<void> {
    await this.until("rolled out", () => isRolledOut(this.#deployment), withinMs);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  #judge(event: string): void {
    if (!this.#bounds) return;
    const { most, least } = this.#bounds;
    const [active, ready] = [this.active.length, this.ready.length];
    if (active > most) this.violations.push(`${active} pods instead of at most ${most} at ${event}`);
    if (ready < least) this.violations.push(`${ready} ready pods instead of at least ${least} at ${event}`);
  }

  #describe(): string {
    return JSON.stringify({
      status: this.#deployment?.status,
      pods: this.active.length,
      ready: this.ready.length,
    });
  }
}

function isRolledOut(deployment: Body): boolean {
  const { metadata, spec, status = {} } = deployment ?? { metadata: {} };
  if (!spec || (status.observedGeneration ?? 0) < metadata.generation) return false;
  const { updatedReplicas: updated = 0, replicas = 0, availableReplicas: available = 0 } = status;
  return updated === spec.replicas && replicas === updated && available === updated;
}

export function deployment(name: string, spec: Body = {}): Body {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      ...spec,
    },
  };
}
