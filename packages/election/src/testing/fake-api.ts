/** The part of a KubeClient that a lock uses, with objects in memory. It checks resourceVersions and answers 404 and 409 like the API server. */
import {
  type KubeClient,
  KubeError,
  type KubeErrorCode,
  type KubeRequest,
  type WatchEvent,
  type WatchRequest,
} from "@tenure/kube";
import type { KubeObject } from "../locks/object-kind.ts";

export class FakeApi {
  /** The objects by path. */
  readonly objects = new Map<string, KubeObject>();
  readonly requests: KubeRequest[] = [];
  readonly watches: WatchRequest<KubeObject>[] = [];
  addressOfConfig = "https://cluster.example:6443";
  namespaceOfConfig: string | undefined = "from-config";
  /** Whether watches get events by themselves, or only from the test. */
  isLive = false;
  /** The error of a request, if it should fail. */
  fail: ((request: KubeRequest) => unknown) | undefined;
  /** Whether a request is performed but its answer is lost. */
  loseAnswer: ((request: KubeRequest) => boolean) | undefined;
  #revision = 100;

  /** This object as the client of a lock. */
  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  async namespace(): Promise<string | undefined> {
    return this.namespaceOfConfig;
  }

  async serverAddress(): Promise<string> {
    return this.addressOfConfig;
  }

  async request(request: KubeRequest): Promise<unknown> {
    this.requests.push(structuredClone({ ...request, signal: undefined }) as KubeRequest);
    const failure = this.fail?.(request);
    if (failure) throw failure;
    const answer = structuredClone(this.#serve(request));
    if (this.loseAnswer?.(request)) throw new KubeError("Timeout", "the answer got lost");
    return answer;
  }

  async watch(request: WatchRequest<KubeObject>): Promise<void> {
    const failure = this.fail?.({ method: "GET", path: request.path });
    if (failure) throw failure;
    this.watches.push(request);
    if (this.isLive) request.onUp({ resumed: false });
    await new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve()));
  }

  /** Writes an object as another client would. */
  put(path: string, object: object): KubeObject {
    const before = this.objects.get(path);
    const { metadata, ...rest } = structuredClone(object) as KubeObject;
    const stored: KubeObject = {
      ...rest,
      metadata: {
        // Like an API server, which keeps them if an update has none.
        ...(before?.metadata.managedFields !== undefined && { managedFields: before.metadata.managedFields }),
        ...metadata,
        name: path.split("/").at(-1) ?? "",
        uid: before?.metadata.uid ?? `uid-${++this.#revision}`,
        resourceVersion: String(++this.#revision),
      },
    };
    this.objects.set(path, stored);
    this.#notify(path, { type: before ? "MODIFIED" : "ADDED", object: stored });
    return stored;
  }

  delete(path: string): void {
    const before = this.objects.get(path);
    if (!before) return;
    this.objects.delete(path);
    const metadata = { ...before.metadata, resourceVersion: String(++this.#revision) };
    this.#notify(path, { type: "DELETED", object: { ...before, metadata } });
  }

  #notify(path: string, event: WatchEvent<KubeObject>): void {
    if (!this.isLive) return;
    for (const watch of this.watches) {
      const name = watch.query?.fieldSelector?.replace("metadata.name=", "") ?? path.split("/").at(-1);
      if (!watch.signal.aborted && path === `${watch.path}/${name}`) {
        queueMicrotask(() => watch.onEvent(structuredClone(event)));
      }
    }
  }

  #serve({ method, path, body }: KubeRequest): unknown {
    const object = body as KubeObject;
    switch (method) {
      case "GET":
        return this.objects.get(path) ?? failNotFound(path);
      case "POST": {
        const target = `${path}/${object.metadata.name}`;
        if (object.metadata.resourceVersion !== undefined) fail("BadRequest");
        return this.objects.has(target) ? fail("AlreadyExists") : this.put(target, object);
      }
      case "PUT": {
        const before = this.objects.get(path) ?? failNotFound(path);
        if (before.metadata.resourceVersion !== object.metadata.resourceVersion) fail("Conflict");
        return this.put(path, object);
      }
      default:
        return fail("MethodNotAllowed");
    }
  }
}

function failNotFound(path: string): never {
  const [kind, name] = path.split("/").slice(-2);
  const status = { kind: "Status", reason: "NotFound", code: 404, details: { name, kind } };
  throw new KubeError("NotFound", "the fake says NotFound", {
    status: 404,
    reason: "NotFound",
    details: status,
  });
}

function fail(code: KubeErrorCode): never {
  throw new KubeError(code, `the fake says ${code}`);
}
