/**
 * A set of shards in Kubernetes Leases: one with the map in an annotation, and one for each member. They share a label, so that one
 * list shows all of them at one revision and one watch reports their changes in order.
 */
import {
  formatShardMap,
  hashOfKey,
  type LeaderRecord,
  type LeaseView,
  type MapView,
  parseShardMap,
  type SetAnswer,
  type ShardMap,
} from "@tenure/core";
import { KubeClient, KubeError, loadConfig } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import { answerFromError, failureFromError, type SoughtObject } from "../locks/answers.ts";
import { LeaseLock, leaseKind } from "../locks/lease-lock.ts";
import type { KubeObject } from "../locks/object-kind.ts";
import { clientTimeoutMs, revisionOf, silentWatchMs } from "../locks/object-lock.ts";
import { UnreadableRecord } from "../locks/record-fields.ts";
import { environment } from "../platform.ts";
import type { SetObserver, SetStore } from "./set-store.ts";

/** What the set divides. It is part of the names, so that shards and permits of one name do not meet. */
export type SetKind = "shards" | "permits";

export interface LeaseSetOptions {
  readonly kind: SetKind;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly client?: KubeClient | undefined;
}

type Watched = Parameters<SetObserver["changed"]>[0];

/** The labels of the Leases of sets, whose value is the name of the set. */
export const setLabels: Readonly<Record<SetKind, string>> = {
  shards: "tenure.dev/shards",
  permits: "tenure.dev/permits",
};

export const mapAnnotation = "tenure.dev/map";

export class LeaseSetStore implements SetStore {
  readonly #options: LeaseSetOptions;
  readonly #client: KubeClient;
  /** The name of the Lease with the map, and the beginning of the names of the member leases. */
  readonly #mapName: string;
  #namespace: string | undefined;

  constructor(options: LeaseSetOptions) {
    this.#options = options;
    this.#mapName = `${options.name}.${options.kind}`;
    this.#namespace = options.namespace ?? environment("NAMESPACE") ?? environment("POD_NAMESPACE");
    const { kubeconfig, context } = options;
    this.#client =
      options.client ??
      new KubeClient(() => loadConfig({ ...(kubeconfig && { kubeconfig }), ...(context && { context }) }), {
        userAgent: "tenure shards",
      });
  }

  get description(): string {
    const { kind, name } = this.#options;
    return `${kind} ${this.#namespace ?? "(namespace of the configuration)"}/${name}`;
  }

  async prepare(): Promise<void> {
    // Called even if the namespace is known: an unusable configuration is reported here, once, and not with every request.
    const configured = await this.#client.namespace();
    this.#namespace ??= configured;
    if (this.#namespace !== undefined) return;
    const { kind, name } = this.#options;
    throw new KubeError(
      "BadConfig",
      `Cannot determine the namespace of the ${kind} ${name}: pass namespace, or set NAMESPACE or POD_NAMESPACE.`,
    );
  }

  memberLease(identity: string): { readonly name: string; readonly lock: LeaseLock } {
    const { client, kubeconfig, context } = this.#options;
    const readable = `${this.#mapName}.${identity}`;
    // An identity need not be a valid name of an object.
    const isValid = nameProblem("name", readable) === undefined;
    const name = isValid
      ? readable
      : `${this.#mapName}.${hashOfKey(identity).toString(16).padStart(16, "0")}`;
    const lock = new LeaseLock({
      name,
      ...(this.#namespace !== undefined && { namespace: this.#namespace }),
      labels: this.#labels(),
      // Without a client that is passed in, the lease has one of its own: no other request delays a renewal.
      ...(client && { client }),
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    });
    return { name, lock };
  }

  list(signal: AbortSignal, timeoutMs: number): Promise<SetAnswer> {
    return answered(undefined, async () => {
      const list = await this.#client.request<{ items?: KubeObject[]; metadata: KubeObject["metadata"] }>({
        method: "GET",
        path: this.#collection(),
        query: { labelSelector: this.#selector() },
        signal,
        timeoutMs: clientTimeoutMs(timeoutMs),
      });
      const objects = list.items ?? [];
      const map = objects.find((object) => this.#isMap(object));
      const leases = objects.filter((object) => this.#isMember(object)).map(leaseView);
      return { kind: "listed", view: { revision: revisionOf(list), map: map && mapView(map), leases } };
    });
  }

  write(
    map: ShardMap,
    over: MapView | undefined,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<SetAnswer> {
    const before = (over?.object as KubeObject | undefined) ?? this.#newMap();
    const annotations = { ...before.metadata.annotations, [mapAnnotation]: formatShardMap(map) };
    const labels = { ...before.metadata.labels, ...this.#labels() };
    const body = { ...before, metadata: { ...before.metadata, annotations, labels } };
    const limits = { signal, timeoutMs: clientTimeoutMs(timeoutMs) };
    return answered(over && this.#sought(this.#mapName), async () => {
      if (!over) return { kind: "map", view: mapView(await this.#create(body, limits)) };
      const path = this.#path(this.#mapName);
      const object = await this.#client.request<KubeObject>({ method: "PUT", path, body, ...limits });
      return { kind: "map", view: mapView(object) };
    });
  }

  fence(record: LeaderRecord, over: LeaseView, signal: AbortSignal, timeoutMs: number): Promise<SetAnswer> {
    const body = leaseKind.write(over.object as KubeObject, record);
    return answered(this.#sought(over.name), async () => {
      const object = await this.#client.request<KubeObject>({
        method: "PUT",
        path: this.#path(over.name),
        body,
        signal,
        timeoutMs: clientTimeoutMs(timeoutMs),
      });
      return { kind: "lease", view: leaseView(object) };
    });
  }

  remove(over: LeaseView, signal: AbortSignal, timeoutMs: number): Promise<SetAnswer> {
    const preconditions = { uid: over.uid, resourceVersion: String(over.revision) };
    return answered(this.#sought(over.name), async () => {
      await this.#client.request({
        method: "DELETE",
        path: this.#path(over.name),
        body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
        signal,
        timeoutMs: clientTimeoutMs(timeoutMs),
      });
      return { kind: "removed" };
    });
  }

  watch(observer: SetObserver, signal: AbortSignal): void {
    const watching = this.#client.watch<KubeObject>({
      path: this.#collection(),
      query: { labelSelector: this.#selector() },
      signal,
      idleMs: silentWatchMs,
      onUp: ({ resumed }) => observer.up(resumed),
      onDown: (error) => observer.down(failureFromError(error)),
      onEvent: ({ type, object }) => {
        if (!this.#isMap(object) && !this.#isMember(object)) return;
        const event = this.#eventOf(type === "DELETED", object);
        if (event) observer.changed(event);
        // A list will fail in the same way and report it.
        else observer.gap();
      },
    });
    // The watch ends by itself only if the client is closed or the observer throws.
    watching.catch((error) => observer.down(failureFromError(error)));
  }

  /** undefined if the object is unreadable. */
  #eventOf(isDeleted: boolean, object: KubeObject): Watched | undefined {
    try {
      const isMap = this.#isMap(object);
      if (!isDeleted) {
        return isMap
          ? { type: "map-observed", view: mapView(object) }
          : { type: "lease-observed", view: leaseView(object) };
      }
      const revision = revisionOf(object);
      const name = object.metadata.name ?? "";
      return isMap ? { type: "map-deleted", revision } : { type: "lease-deleted", name, revision };
    } catch {
      return undefined;
    }
  }

  /** A map that exists is read instead: another member was faster, or the map has lost its label, which is put back. */
  async #create(
    body: KubeObject,
    limits: { signal: AbortSignal; timeoutMs: number | undefined },
  ): Promise<KubeObject> {
    const request = (method: "GET" | "PUT" | "POST", path: string, sent?: KubeObject) =>
      this.#client.request<KubeObject>({ method, path, ...(sent && { body: sent }), ...limits });
    const path = this.#path(this.#mapName);
    try {
      return await request("POST", this.#collection(), body);
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== "AlreadyExists") throw error;
    }
    const found = await request("GET", path);
    const labels = { ...found.metadata.labels, ...this.#labels() };
    const isLabelled = found.metadata.labels?.[this.#label()] === this.#options.name;
    return isLabelled ? found : request("PUT", path, { ...found, metadata: { ...found.metadata, labels } });
  }

  #isMap(object: KubeObject): boolean {
    return object.metadata.name === this.#mapName;
  }

  /** Somebody may have put the label on another Lease. It is not ours to remove. */
  #isMember({ metadata }: KubeObject): boolean {
    return metadata.name?.startsWith(`${this.#mapName}.`) ?? false;
  }

  #newMap(): KubeObject {
    const { apiVersion, kind } = leaseKind;
    return { apiVersion, kind, metadata: { name: this.#mapName, namespace: this.#namespace ?? "" } };
  }

  #label(): string {
    return setLabels[this.#options.kind];
  }

  #labels(): Readonly<Record<string, string>> {
    return { [this.#label()]: this.#options.name };
  }

  #selector(): string {
    return `${this.#label()}=${this.#options.name}`;
  }

  #sought(name: string): SoughtObject {
    return { name, plural: leaseKind.plural, kind: leaseKind.kind, group: "coordination.k8s.io" };
  }

  #collection(): string {
    return `${leaseKind.root}/namespaces/${this.#namespace}/${leaseKind.plural}`;
  }

  #path(name: string): string {
    return `${this.#collection()}/${name}`;
  }
}

function leaseView(object: KubeObject): LeaseView {
  const { name = "", uid = "" } = object.metadata;
  return { name, uid, revision: revisionOf(object), record: leaseKind.read(object), object };
}

function mapView(object: KubeObject): MapView {
  const text = object.metadata.annotations?.[mapAnnotation] ?? "";
  return { uid: object.metadata.uid ?? "", revision: revisionOf(object), map: readMap(text), object };
}

function readMap(text: string): ShardMap {
  try {
    return parseShardMap(text);
  } catch (error) {
    throw new UnreadableRecord(
      `${(error as Error).message}; correct the annotation ${mapAnnotation}, or delete the Lease: then the members make a new map`,
    );
  }
}

async function answered(
  sought: SoughtObject | undefined,
  send: () => Promise<SetAnswer>,
): Promise<SetAnswer> {
  try {
    return await send();
  } catch (error) {
    const answer = answerFromError(error, sought);
    if (answer.kind === "absent") return { kind: "gone" };
    return answer.kind === "found" ? { kind: "conflict" } : answer;
  }
}
