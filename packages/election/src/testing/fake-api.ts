/** The part of a KubeClient that a lock uses, over objects in memory. Strict where the API server is: resourceVersion, 404, 409. */
import {
  type KubeClient,
  KubeError,
  type KubeErrorCode,
  type KubeRequest,
  type WatchEvent,
  type WatchRequest,
} from "@tenure/kube";
import type { KubeObject } from "../locks/object-lock.ts";

export class FakeApi {
  /** By the path of each object. */
  readonly objects = new Map<string, KubeObject>();
  readonly requests: KubeRequest[] = [];
  readonly watches: WatchRequest<KubeObject>[] = [];
  namespaceOfConfig: string | undefined = "from-config";
  /** Whether watches are told by themselves, or by the test. */
  isLive = false;
  /** What a request rejects with, if it should. */
  fail: ((request: KubeRequest) => unknown) | undefined;
  /** Whether a request is served and its answer gets lost. */
  loseAnswer: ((request: KubeRequest) => boolean) | undefined;
  #revision = 100;

  /** As a lock takes it. */
  get client(): KubeClient {
    return this as unknown as KubeClient;
  }

  async namespace(): Promise<string | undefined> {
    return this.namespaceOfConfig;
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

  /** Somebody else writes. */
  put(path: string, object: object): KubeObject {
    const before = this.objects.get(path);
    const { metadata, ...rest } = structuredClone(object) as KubeObject;
    const stored: KubeObject = {
      ...rest,
      metadata: {
        ...metadata,
        name: path.split("/").at(-1) ?? "",
        uid: before?.metadata.uid ?? `uid-${++this.#revision}`,
        resourceVersion: String(++this.#revision),
      },
    };
    this.objects.set(path, stored);
    this.#tell(path, { type: before ? "MODIFIED" : "ADDED", object: stored });
    return stored;
  }

  delete(path: string): void {
    const before = this.objects.get(path);
    if (!before) return;
    this.objects.delete(path);
    const metadata = { ...before.metadata, resourceVersion: String(++this.#revision) };
    this.#tell(path, { type: "DELETED", object: { ...before, metadata } });
  }

  #tell(path: string, event: WatchEvent<KubeObject>): void {
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
        return this.objects.get(path) ?? refuse("NotFound");
      case "POST": {
        const target = `${path}/${object.metadata.name}`;
        if (object.metadata.resourceVersion !== undefined) refuse("BadRequest");
        return this.objects.has(target) ? refuse("AlreadyExists") : this.put(target, object);
      }
      case "PUT": {
        const before = this.objects.get(path) ?? refuse("NotFound");
        if (before.metadata.resourceVersion !== object.metadata.resourceVersion) refuse("Conflict");
        return this.put(path, object);
      }
      default:
        return refuse("MethodNotAllowed");
    }
  }
}

function refuse(code: KubeErrorCode): never {
  throw new KubeError(code, `the fake says ${code}`);
}
