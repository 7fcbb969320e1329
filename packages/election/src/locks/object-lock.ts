/**
 * A lock in one Kubernetes object of any kind: reads, compare-and-swap writes, and a watch of that one object. For G3, a write
 * sends the whole object as it was read, with only the record changed, and the API server rejects it (409) if the object has
 * changed since. The lock keeps no state: the caller passes in the view to write over.
 */
import { type Problem, quote, unknownOptions } from "@tenure/base";
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import { KubeClient, KubeError, loadConfig, type WatchRequest } from "@tenure/kube";
import { nameProblem } from "@tenure/kube/internal";
import { invalidOptions } from "../errors.ts";
import type { CandidateRegistry, Coordination, Lock, LockObserver, LockSpec } from "../lock.ts";
import { environment } from "../platform.ts";
import { answerFromError, failureFromError, type SoughtObject } from "./answers.ts";
import { CandidateLeases } from "./candidate-leases.ts";
import { eventFor } from "./event.ts";
import { LeaseCandidates } from "./lease-candidates.ts";
import type { KubeObject, ObjectKind } from "./object-kind.ts";
import { formatTransfer, orderAnnotations, ordersFrom } from "./orders.ts";
import { UnreadableRecord } from "./record-fields.ts";
import { watchShared } from "./shared-watch.ts";

/** The options of a lock in a Kubernetes object. Only `name` is required. */
export interface ObjectLockOptions {
  /** The name of the object. @example "billing" */
  readonly name: string;
  /** The namespace of the object. @default $NAMESPACE, $POD_NAMESPACE, or the namespace of the kubeconfig's context or of the pod */
  readonly namespace?: string;
  /** Labels to set with every write. Other labels of the object are not changed. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** The path of a kubeconfig. @default $KUBECONFIG, the pod's service account, or ~/.kube/config */
  readonly kubeconfig?: string;
  /** A context of the kubeconfig. @default the kubeconfig's current context */
  readonly context?: string;
  /** Pass the same client to several locks to share its connections. @default one of its own, so that no other request delays a renewal */
  readonly client?: KubeClient;
  /**
   * Share one watch connection with all other locks of the same `client`, namespace and kind that set this option. For
   * processes with many elections. Needs permission to `watch` all objects of the kind in the namespace, not only this one.
   * @default false
   */
  readonly shareWatch?: boolean;
}

/** The API server sends a bookmark about every minute, so a stream that is silent for this long is dead. */
export const silentWatchMs = 150_000;

export class ObjectLock implements Lock {
  readonly #kind: ObjectKind;
  readonly #options: ObjectLockOptions;
  readonly #client: KubeClient;
  readonly candidates: CandidateRegistry;
  readonly coordination: Coordination | undefined;
  #namespace: string | undefined;

  constructor(kind: ObjectKind, options: ObjectLockOptions) {
    this.#kind = kind;
    this.#options = options;
    this.#namespace = options.namespace ?? environment("NAMESPACE") ?? environment("POD_NAMESPACE");
    check(kind.kind, this.#namespace === undefined ? options : { ...options, namespace: this.#namespace });
    const { kubeconfig, context } = options;
    this.#client =
      options.client ??
      new KubeClient(() => loadConfig({ ...(kubeconfig && { kubeconfig }), ...(context && { context }) }), {
        userAgent: "tenure leader-election",
      });
    const namespace = () => this.#namespace;
    const parts = { client: this.#client, namespace, lockName: options.name };
    this.candidates = new CandidateLeases(parts);
    this.coordination = kind.preferredHolder && new LeaseCandidates(parts);
  }

  get spec(): LockSpec | undefined {
    const { client, ...options } = this.#options;
    return client
      ? undefined
      : { kind: this.#kind.kind.toLowerCase() as "lease" | "configmap" | "endpoints", options };
  }

  get description(): string {
    return `${this.#kind.kind.toLowerCase()} ${this.#namespace ?? "(namespace of the configuration)"}/${this.#options.name}`;
  }

  async prepare(): Promise<void> {
    const { name } = this.#options;
    const { kind } = this.#kind;
    // Called even if the namespace is known: an unusable configuration is reported here, once, and not with every request.
    const configured = await this.#client.namespace();
    this.#namespace ??= configured;
    if (this.#namespace === undefined) {
      throw new KubeError(
        "BadConfig",
        `Cannot determine the namespace of the ${kind} ${name}: pass namespace, or set NAMESPACE or POD_NAMESPACE.`,
      );
    }
    check(kind, { ...this.#options, namespace: this.#namespace });
  }

  serverAddress(): Promise<string> {
    return this.#client.serverAddress();
  }

  async read(signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const limits = { signal, timeoutMs: clientTimeoutMs(timeoutMs) };
    return this.#answer(this.#sought(), () =>
      this.#client.request<KubeObject>({ method: "GET", path: this.#path(), ...limits }),
    );
  }

  async write(
    record: LeaderRecord,
    over: LockView | undefined,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<Answer> {
    const before = over?.object as KubeObject | undefined;
    const body = this.#kind.write(this.#labelled(before ?? this.#newObject()), record);
    const limits = { signal, timeoutMs: clientTimeoutMs(timeoutMs) };
    return this.#answer(before && this.#sought(), () =>
      before
        ? this.#client.request<KubeObject>({ method: "PUT", path: this.#path(), body, ...limits })
        : this.#client.request<KubeObject>({ method: "POST", path: this.#collection(), body, ...limits }),
    );
  }

  /** Sends back the whole object as it was read, with one more annotation: the record is not even formatted again. */
  async acceptTransfer(over: LockView, signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const before = over.object as KubeObject;
    const { transfer } = over.orders ?? {};
    if (!transfer) return { kind: "conflict" };
    const accepted = { [orderAnnotations.transferAccepted]: formatTransfer(transfer) };
    const annotations = { ...before.metadata.annotations, ...accepted };
    const body = { ...before, metadata: { ...before.metadata, annotations } };
    const limits = { signal, timeoutMs: clientTimeoutMs(timeoutMs) };
    return this.#answer(this.#sought(), () =>
      this.#client.request<KubeObject>({ method: "PUT", path: this.#path(), body, ...limits }),
    );
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    let mayHaveMissed = false;
    const { name, shareWatch = false } = this.#options;
    const request: WatchRequest<KubeObject> = {
      path: this.#collection(),
      signal,
      idleMs: silentWatchMs,
      onUp: ({ resumed }) => {
        observer.up();
        // A deletion in the gap is not reported, so the lock has to be read. At the start, the candidate reads it anyway.
        if (mayHaveMissed && !resumed) observer.changed();
        mayHaveMissed = true;
      },
      onDown: (error) => {
        mayHaveMissed = true;
        observer.down(failureFromError(error));
      },
      onEvent: ({ type, object }) => {
        try {
          if (type === "DELETED") observer.deleted(revisionOf(object));
          else observer.observed(this.#view(object));
        } catch {
          // The object is unreadable. A read will fail in the same way and report it.
          observer.changed();
        }
      },
    };
    const query = { fieldSelector: `metadata.name=${name}` };
    const watching = shareWatch
      ? watchShared(this.#client, name, request)
      : this.#client.watch<KubeObject>({ ...request, query });
    // The watch ends by itself only if the client is closed or the observer throws.
    watching.catch((error) => observer.down(failureFromError(error)));
  }

  /** Records a Kubernetes Event on the lock. */
  async announce(message: string, view: LockView | undefined, signal: AbortSignal): Promise<void> {
    // `kubectl describe` finds the events of an object by its uid, so the lock is read if the view is unknown.
    const answer = view ? undefined : await this.read(signal);
    const seen = answer?.kind === "found" ? answer.view : view;
    const body = eventFor({
      kind: this.#kind,
      name: this.#options.name,
      namespace: this.#namespace ?? "",
      message,
      view: seen,
    });
    await this.#client.request({
      method: "POST",
      path: `/api/v1/namespaces/${this.#namespace}/events`,
      body,
      signal,
    });
  }

  async #answer(sought: SoughtObject | undefined, send: () => Promise<KubeObject>): Promise<Answer> {
    try {
      return { kind: "found", view: this.#view(await send()) };
    } catch (error) {
      return answerFromError(error, sought);
    }
  }

  #view(object: KubeObject): LockView {
    const revision = revisionOf(object);
    const record = this.#kind.read(object);
    const orders = ordersFrom(object.metadata.annotations);
    const preferredHolder = this.#kind.preferredHolder?.(object);
    return {
      uid: object.metadata.uid ?? "",
      version: String(revision),
      revision,
      record,
      ...(orders && { orders }),
      ...(preferredHolder !== undefined && { preferredHolder }),
      object: withoutManagedFields(object),
    };
  }

  #newObject(): KubeObject {
    const { kind, apiVersion } = this.#kind;
    return { apiVersion, kind, metadata: { name: this.#options.name, namespace: this.#namespace ?? "" } };
  }

  #labelled(object: KubeObject): KubeObject {
    const { labels } = this.#options;
    if (!labels) return object;
    return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } };
  }

  #sought(): SoughtObject {
    const { kind, plural, apiVersion } = this.#kind;
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    return { name: this.#options.name, plural, kind, group };
  }

  #collection(): string {
    return `${this.#kind.root}/namespaces/${this.#namespace}/${this.#kind.plural}`;
  }

  #path(): string {
    return `${this.#collection()}/${this.#options.name}`;
  }
}

/**
 * The object as it is kept and sent back. An API server leaves the managed fields of an object as they are if an update has none, and
 * they are the larger part of a Lease.
 */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * The candidate aborts a request at its own limit, but first handles an answer that arrived while the process was frozen.
 * The client does not promise that, so its limit is a backstop that comes well after the candidate's.
 */
export function clientTimeoutMs(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined ? undefined : Math.max(timeoutMs + 1_000, 10_000);
}

const knownOptions: Readonly<Record<keyof ObjectLockOptions, true>> = {
  name: true,
  namespace: true,
  labels: true,
  kubeconfig: true,
  context: true,
  client: true,
  shareWatch: true,
};

/** Every problem with the options of a lock in a Kubernetes object. */
export function checkLockOptions(options: ObjectLockOptions): readonly Problem[] {
  const { name, namespace, shareWatch, client } = options;
  const names = [
    nameProblem("name", name),
    namespace === undefined ? undefined : nameProblem("namespace", namespace),
  ];
  const problems = [
    ...unknownOptions(options, knownOptions),
    ...names.filter((problem) => problem !== undefined),
  ];
  if (shareWatch !== undefined && typeof shareWatch !== "boolean") {
    problems.push({ field: "shareWatch", rule: "must be true or false", value: quote(shareWatch) });
  } else if (shareWatch && !client) {
    problems.push({
      field: "shareWatch",
      rule: "needs {client}",
      fix: "pass the same {client} to each of these locks",
    });
  }
  return problems;
}

function check(kind: string, options: ObjectLockOptions): void {
  const problems = checkLockOptions(options);
  if (problems.length > 0) throw invalidOptions(`use the ${kind} as a lock`, problems);
}

/** Kubernetes calls the resourceVersion opaque but keeps it ordered (by contract since 1.35). The fencing tokens depend on that. */
export function revisionOf(object: KubeObject): bigint {
  const version = object.metadata?.resourceVersion;
  if (typeof version === "string" && /^\d+$/.test(version)) return BigInt(version);
  throw new UnreadableRecord(
    `the resourceVersion from the API server is not a number, so changes cannot be ordered: ${JSON.stringify(version)}`,
  );
}
