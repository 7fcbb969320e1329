/** Writes the status of one pod to the API: the newest one, one write at a time, until it succeeds. */
import { Backoff, sleep } from "@tenure/base";
import { type ApiClient, objectPath } from "../../client/api.ts";
import { pods } from "../../client/resources.ts";
import type { NodePlatform } from "../platform.ts";
import type { NodePod, NodePodStatus } from "../pod.ts";

const backoff = { firstMs: 100, mostMs: 5_000, jitter: 0.3 };

export class StatusWriter {
  readonly #client: ApiClient;
  readonly #platform: NodePlatform;
  readonly #pod: NodePod;
  readonly #onError: (error: unknown) => void;
  readonly #closed = new AbortController();
  #wanted: NodePodStatus | undefined;
  #written = "";
  #writing: Promise<void> | undefined;

  constructor(client: ApiClient, platform: NodePlatform, pod: NodePod, onError: (error: unknown) => void) {
    this.#client = client;
    this.#platform = platform;
    this.#pod = pod;
    this.#onError = onError;
  }

  write(status: NodePodStatus): void {
    this.#wanted = status;
    this.#writing ??= this.#run().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when the newest status is written, or the pod is gone. */
  async flushed(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Writes nothing any more. */
  close(): void {
    this.#closed.abort();
  }

  async #run(): Promise<void> {
    const wait = new Backoff(backoff, this.#platform.random);
    while (this.#wanted && !this.#closed.signal.aborted) {
      const status = this.#wanted;
      const text = JSON.stringify(status);
      if (text === this.#written) {
        this.#wanted = undefined;
        return;
      }
      try {
        await this.#patch(status);
        this.#written = text;
        wait.reset();
      } catch (error) {
        if (await this.#isGone(error)) {
          this.close();
          return;
        }
        this.#onError(error);
        await sleep(this.#platform.clock, wait.next(), this.#closed.signal);
      }
    }
  }

  /** Whether the pod was deleted, or replaced by another of the same name. A conflict can also mean that many wrote at once. */
  async #isGone(error: unknown): Promise<boolean> {
    const { code } = error as { code?: unknown };
    if (code !== "Conflict") return code === "NotFound";
    const { namespace, name, uid } = this.#pod.metadata;
    try {
      const path = objectPath(pods, { namespace, name });
      const found = await this.#client.request<NodePod>({ method: "GET", path });
      return found.metadata.uid !== uid;
    } catch (problem) {
      return (problem as { code?: unknown }).code === "NotFound";
    }
  }

  async #patch(status: NodePodStatus): Promise<void> {
    const { namespace, name, uid } = this.#pod.metadata;
    // In a merge, a field that is missing stays. Null removes it.
    const conditions = status.conditions?.map((condition) => ({ reason: null, message: null, ...condition }));
    await this.#client.request({
      method: "PATCH",
      path: objectPath(pods, { namespace, name }, "status"),
      contentType: "application/strategic-merge-patch+json",
      body: { metadata: { uid }, status: { ...status, conditions } },
      signal: this.#closed.signal,
    });
  }
}
