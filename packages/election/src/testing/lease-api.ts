/** The part of a KubeClient that sets of shards use, with Leases in memory: lists and watches by label, and deletions with preconditions. */
import {
  type KubeClient,
  KubeError,
  type KubeRequest,
  type WatchEvent,
  type WatchRequest,
} from "@tenure/kube";
import type { KubeObject } from "../locks/object-kind.ts";

const collection = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";

export class LeaseApi {
  readonly leases = new Map<string, KubeObject>();
  /** Which requests were made, as `PUT billing.shards`. */
  readonly requests: string[] = [];
  /** The error of a request, if it should fail. */
  fail: ((request: KubeRequest) => unknown) | undefined;
  readonly #watches = new Set<WatchRequest<KubeObject>>();
  #revision = 100;

  /** A connection of one member, which can be cut. */
  connect(): { readonly client: KubeClient; cut(isCut?: boolean): void } {
    let isCut = false;
    const own = new Set<WatchRequest<KubeObject>>();
    const unreachable = () => new KubeError("Unreachable", "the connection is cut");
    const client = {
      namespace: async () => "prod",
      serverAddress: async () => "https://api",
      request: async (request: KubeRequest) => {
        if (isCut) throw unreachable();
        return this.#serve(request);
      },
      watch: async (request: WatchRequest<KubeObject>) => {
        own.add(request);
        if (!isCut) this.#open(request);
        await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
        this.#watches.delete(request);
      },
    };
    return {
      client: client as unknown as KubeClient,
      cut: (cut = true) => {
        isCut = cut;
        for (const request of own) {
          if (request.signal.aborted) continue;
          if (!cut) this.#open(request);
          else if (this.#watches.delete(request)) request.onDown(unreachable());
        }
      },
    };
  }

  lease(name: string): KubeObject | undefined {
    return this.leases.get(name);
  }

  /** Deletes a Lease as an operator would. */
  delete(name: string): void {
    const before = this.leases.get(name);
    if (!before) return;
    this.leases.delete(name);
    const metadata = { ...before.metadata, resourceVersion: String(++this.#revision) };
    this.#notify({ type: "DELETED", object: { ...before, metadata } });
  }

  /** Writes a Lease as an operator would. */
  put(name: string, object: KubeObject): KubeObject {
    const before = this.leases.get(name);
    const metadata = {
      ...object.metadata,
      name,
      uid: before?.metadata.uid ?? `uid-${++this.#revision}`,
      resourceVersion: String(++this.#revision),
    };
    const stored = { ...structuredClone(object), metadata };
    this.leases.set(name, stored);
    this.#notify({ type: before ? "MODIFIED" : "ADDED", object: stored });
    return stored;
  }

  #open(request: WatchRequest<KubeObject>): void {
    this.#watches.add(request);
    request.onUp({ resumed: false });
    for (const object of this.leases.values())
      if (selects(request, object)) request.onEvent({ type: "ADDED", object: structuredClone(object) });
  }

  #notify(event: WatchEvent<KubeObject>): void {
    for (const watch of this.#watches) {
      if (!selects(watch, event.object)) continue;
      queueMicrotask(() => {
        if (!watch.signal.aborted && this.#watches.has(watch)) watch.onEvent(structuredClone(event));
      });
    }
  }

  #serve(request: KubeRequest): unknown {
    const name = request.path === collection ? "" : request.path.slice(collection.length + 1);
    this.requests.push(`${request.method} ${name}`);
    const failure = this.fail?.(request);
    if (failure) throw failure;
    const body = request.body as KubeObject;
    const before = this.leases.get(name);
    if (request.method === "GET" && name === "") {
      const items = [...this.leases.values()].filter((object) => selects(request, object));
      return { items: structuredClone(items), metadata: { resourceVersion: String(this.#revision) } };
    }
    if (request.method === "POST") {
      const created = body.metadata.name ?? "";
      return this.leases.has(created)
        ? refuse("AlreadyExists", 409, created)
        : structuredClone(this.put(created, body));
    }
    if (!before) return refuse("NotFound", 404, name);
    if (request.method === "GET") return structuredClone(before);
    if (request.method === "DELETE") {
      const { preconditions } = body as unknown as {
        preconditions: { uid: string; resourceVersion: string };
      };
      const { uid, resourceVersion } = before.metadata;
      if (preconditions.uid !== uid || preconditions.resourceVersion !== resourceVersion)
        return refuse("Conflict", 409, name);
      this.delete(name);
      return {};
    }
    if (body.metadata.resourceVersion !== before.metadata.resourceVersion)
      return refuse("Conflict", 409, name);
    return structuredClone(this.put(name, body));
  }
}

function selects({ query }: Pick<KubeRequest, "query">, { metadata }: KubeObject): boolean {
  const [label = "", value] = query?.labelSelector?.split("=") ?? [];
  const [, name] = query?.fieldSelector?.split("=") ?? [];
  if (name !== undefined && metadata.name !== name) return false;
  return value === undefined || metadata.labels?.[label] === value;
}

function refuse(code: "NotFound" | "Conflict" | "AlreadyExists", status: number, name: string): never {
  const details = { kind: "Status", reason: code, details: { name, kind: "leases" } };
  throw new KubeError(code, `the fake says ${code}`, { status, reason: code, details });
}
