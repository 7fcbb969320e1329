/** A holder that is not a tenure candidate: it renews its lock, and ignores orders or obeys them in its own way. */
import type { KubeClient } from "@tenure/kube";
import { leases, microTime, record } from "./commands.ts";

interface Lease {
  metadata: { annotations?: Record<string, string>; resourceVersion: string };
  spec: { holderIdentity: string; leaseTransitions: number; acquireTime: string };
}

/** Far more frequent than usual, so that orders conflict with renewals. */
const periodMs = 40;

export class StandIn {
  readonly #client: KubeClient;
  readonly #path: string;
  readonly #identity: string;
  readonly #heeds: (lease: Lease) => string | undefined;
  #running: Promise<void>;
  #isOver = false;

  /** @param heeds returns the next holder for a lease with its orders: "" releases it, undefined keeps it */
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
