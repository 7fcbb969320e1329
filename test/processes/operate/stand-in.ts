/** Somebody who holds a lock and renews it, and heeds orders or does not: what is not a tenure candidate does not. */
import type { KubeClient } from "@tenure/kube";
import { leases, microTime, record } from "./commands.ts";

interface Lease {
  metadata: { annotations?: Record<string, string>; resourceVersion: string };
  spec: { holderIdentity: string; leaseTransitions: number; acquireTime: string };
}

/** So often it renews: far more often than anybody would, so that orders meet conflicts. */
const periodMs = 40;

export class StandIn {
  readonly #client: KubeClient;
  readonly #path: string;
  readonly #identity: string;
  readonly #heeds: (lease: Lease) => string | undefined;
  #running: Promise<void>;
  #isOver = false;

  /** @param heeds who leads next, given the lease with its orders; "" releases it, undefined goes on */
  static async start(
    client: KubeClient,
    namespace: string,
    name: string,
    identity: string,
    heeds: (lease: Lease) => string | undefined = () => undefined,
  ): Promise<StandIn> {
    await client.request({
      method: "POST",
      path: leases(namespace),
      body: { metadata: { name }, spec: record(identity, { leaseTransitions: 3 }) },
    });
    return new StandIn(client, `${leases(namespace)}/${name}`, identity, heeds);
  }

  private constructor(
    client: KubeClient,
    path: string,
    identity: string,
    heeds: (lease: Lease) => string | undefined,
  ) {
    this.#client = client;
    this.#path = path;
    this.#identity = identity;
    this.#heeds = heeds;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    let identity = this.#identity;
    while (!this.#isOver) {
      const lease = await this.#client.request<Lease>({ method: "GET", path: this.#path });
      const next = this.#heeds(lease) ?? identity;
      const spec =
        next === identity
          ? { ...lease.spec, renewTime: microTime() }
          : next === ""
            ? record("", { leaseDurationSeconds: 1, leaseTransitions: lease.spec.leaseTransitions })
            : record(next, { leaseTransitions: lease.spec.leaseTransitions + 1 });
      identity = next;
      await this.#client
        .request({ method: "PUT", path: this.#path, body: { ...lease, spec } })
        .catch((error: { code?: string }) => {
          if (error.code !== "Conflict") throw error;
        });
      await new Promise((resolve) => setTimeout(resolve, periodMs));
    }
  }
}
