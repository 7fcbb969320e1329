/** Creates and deletes the pods of a controller, and remembers what its informer has not shown yet. */
import { messageOf } from "@tenure/base";
import type { ApiClient, Resource } from "../client/api.ts";
import type { EventRecorder } from "../client/event-recorder.ts";
import { type Informer, keyOf, splitKey } from "../client/informer.ts";
import type { KubeObject, OwnerReference, Pod, PodTemplate } from "../client/objects.ts";
import { pods } from "../client/resources.ts";
import { createObject, deleteObject, hasCode, isNamespaceEnding, mayHaveHappened } from "../client/writes.ts";
import type { Platform } from "../platform.ts";
import { Expectations } from "./expectations.ts";
import { generatedName } from "./names.ts";
import { podFromTemplate } from "./pod-from-template.ts";

export interface WriteFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly error: unknown;
}

/** What a new pod is made of. */
export interface PodSource {
  readonly owner: KubeObject;
  readonly controller: OwnerReference;
  readonly template: PodTemplate;
  /** What the name of the pod starts with. @default the name of the owner and a dash */
  readonly nameBase?: string;
}

export interface PodWriterOptions {
  client: ApiClient;
  platform: Platform;
  recorder: EventRecorder;
  owners: Resource<KubeObject>;
  pods: Informer<Pod>;
}

export class PodWriter {
  readonly #options: PodWriterOptions;
  readonly #expectations = new Expectations();
  /** What pods are made of whose creation has to be repeated, by key. */
  readonly #repeats = new Map<string, PodSource>();

  constructor(options: PodWriterOptions) {
    this.#options = options;
  }

  /** The informer shows a pod of the owner. */
  observe(owner: string, pod: Pod, isGone: boolean): void {
    this.#expectations.settle(owner, keyOf(pod.metadata));
    if (isGone || pod.metadata.deletionTimestamp) this.#expectations.settle(owner, pod.metadata.uid);
  }

  /** Whether the informer shows all writes for the owner. */
  isSettled(owner: string): boolean {
    return this.#expectations.isSatisfied(owner, this.#nowMs());
  }

  forget(owner: string): void {
    this.#expectations.forget(owner);
  }

  /** Sends writes again whose answer was lost. */
  async repeatUnknown(owner: string, ownerObject: KubeObject): Promise<void> {
    for (const podKey of this.#expectations.unknown(owner, "create")) {
      const source = this.#repeats.get(podKey);
      const failure = source && (await this.#createOne(owner, splitKey(podKey).name, source));
      if (failure) throw failure.error;
    }
    for (const uid of this.#expectations.unknown(owner, "delete")) {
      const candidates = this.#options.pods.list(ownerObject.metadata.namespace);
      const pod = candidates.find(({ metadata }) => metadata.uid === uid);
      if (!pod) this.#expectations.settle(owner, uid);
      const failure = pod && (await this.#deleteOne(owner, pod, ownerObject));
      if (failure) throw failure.error;
    }
  }

  /** Creates pods in growing batches, so that a create that is bound to fail is not sent hundreds of times. */
  async create(owner: string, sources: readonly PodSource[]): Promise<WriteFailure | undefined> {
    for (let done = 0, batch = 1; done < sources.length; done += batch, batch *= 2) {
      const started = sources.slice(done, done + batch).map((source) => {
        const { name: ownerName, namespace } = source.owner.metadata;
        const name = generatedName(source.nameBase ?? `${ownerName}-`, this.#options.platform.random);
        this.#expectations.expect(owner, "create", keyOf({ namespace, name }), this.#nowMs());
        return this.#createOne(owner, name, source);
      });
      const failure = (await Promise.all(started)).find((result) => result !== undefined);
      if (failure) return isNamespaceEnding(failure.error) ? undefined : failure;
    }
    return undefined;
  }

  async delete(
    owner: string,
    unwanted: readonly Pod[],
    ownerObject: KubeObject,
  ): Promise<WriteFailure | undefined> {
    const results = await Promise.all(
      unwanted.map((pod) => {
        this.#expectations.expect(owner, "delete", pod.metadata.uid, this.#nowMs());
        return this.#deleteOne(owner, pod, ownerObject);
      }),
    );
    return results.find((result) => result !== undefined);
  }

  async #createOne(owner: string, name: string, source: PodSource): Promise<WriteFailure | undefined> {
    const { client, pods: cached } = this.#options;
    const { namespace } = source.owner.metadata;
    const item = keyOf({ namespace, name });
    try {
      await createObject(client, pods, namespace, podFromTemplate(source.template, { ...source, name }));
    } catch (error) {
      if (!hasCode(error, "AlreadyExists")) {
        if (mayHaveHappened(error)) this.#repeats.set(item, source);
        return this.#failed(owner, item, source.owner, "FailedCreate", error);
      }
    }
    this.#repeats.delete(item);
    this.#expectations.markSent(owner, item);
    if (cached.get(namespace, name)) this.#expectations.settle(owner, item);
    this.#record(source.owner, "Normal", "SuccessfulCreate", `Created pod: ${name}`);
    return undefined;
  }

  async #deleteOne(owner: string, pod: Pod, ownerObject: KubeObject): Promise<WriteFailure | undefined> {
    const { client, pods: cached } = this.#options;
    const { uid, name, namespace } = pod.metadata;
    try {
      await deleteObject(client, pods, pod);
    } catch (error) {
      return this.#failed(owner, uid, ownerObject, "FailedDelete", error);
    }
    this.#expectations.markSent(owner, uid);
    const current = cached.get(namespace, name);
    if (current?.metadata.uid !== uid || current.metadata.deletionTimestamp)
      this.#expectations.settle(owner, uid);
    this.#record(ownerObject, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
    return undefined;
  }

  #failed(
    owner: string,
    item: string,
    target: KubeObject,
    reason: WriteFailure["reason"],
    error: unknown,
  ): WriteFailure {
    if (mayHaveHappened(error)) this.#expectations.markUnknown(owner, item);
    else this.#expectations.settle(owner, item);
    const what = reason === "FailedCreate" ? "Error creating" : "Error deleting";
    if (!isNamespaceEnding(error)) this.#record(target, "Warning", reason, `${what}: ${messageOf(error)}`);
    return { reason, error };
  }

  #record(target: KubeObject, type: "Normal" | "Warning", reason: string, message: string): void {
    const { apiVersion, kind } = this.#options.owners;
    this.#options.recorder.record({ ...target, apiVersion, kind }, { type, reason, message });
  }

  #nowMs(): number {
    return this.#options.platform.clock.now().monoMs;
  }
}
