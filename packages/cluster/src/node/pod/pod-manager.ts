/** The pods of one node: starts a worker for each, and tells it what the API says about its pod. */

import { objectPath } from "../../client/api.ts";
import type { Informer } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { pods } from "../../client/resources.ts";
import { AddressPool } from "../addresses.ts";
import type { NodePod } from "../pod.ts";
import type { PodContext } from "./pod-context.ts";
import { PodWorker } from "./pod-worker.ts";

export class PodManager {
  readonly #context: PodContext;
  readonly #informer: Informer<Pod>;
  readonly #workers = new Map<string, PodWorker>();
  #addresses: AddressPool | undefined;
  #hostIP = "";

  constructor(context: PodContext, informer: Informer<Pod>) {
    this.#context = context;
    this.#informer = informer;
  }

  /** Follows the pods of the node. Resolves when it knows all of them. @param network for example 10.244.1.0/24 */
  async start(network: string, hostIP: string, signal: AbortSignal): Promise<void> {
    this.#hostIP = hostIP;
    this.#addresses = new AddressPool(network);
    this.#informer.onChange(({ previous, current }) => {
      if (current) this.#onPod(current as NodePod);
      else if (previous) this.#workers.get(previous.metadata.uid)?.vanish();
    });
    void this.#informer.run(signal);
    await Promise.race([
      this.#informer.synced,
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      ),
    ]);
  }

  /** The worker of a pod. Undefined if this node does not run it. */
  find(namespace: string, name: string): PodWorker | undefined {
    const pod = this.#informer.get(namespace, name);
    return pod && this.#workers.get(pod.metadata.uid);
  }

  close(): void {
    for (const worker of this.#workers.values()) worker.close();
  }

  #onPod(pod: NodePod): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const worker = this.#workers.get(uid);
    if (worker) {
      worker.update(pod);
      return;
    }
    const isOver = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
    if (isOver) {
      // It ended under an earlier agent. Nothing of it runs.
      if (deletionTimestamp !== undefined) void this.#remove(pod);
      return;
    }
    const address = this.#addresses?.take(uid, pod.status?.podIP);
    if (address === undefined) {
      this.#context.onError(
        new Error(`Cannot run pod ${pod.metadata.name}: all addresses of the node are in use.`),
      );
      return;
    }
    const created = new PodWorker(this.#context, pod, { podIP: address, hostIP: this.#hostIP }, () => {
      this.#workers.delete(uid);
      this.#addresses?.release(uid);
    });
    this.#workers.set(uid, created);
  }

  async #remove({ metadata }: NodePod): Promise<void> {
    const { namespace, name, uid } = metadata;
    try {
      await this.#context.client.request({
        method: "DELETE",
        path: objectPath(pods, { namespace, name }),
        body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } },
      });
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== "NotFound" && code !== "Conflict") this.#context.onError(error);
    }
  }
}
