/**
 * Presents the locks of a store as Leases, so that the commands of an operator work on both. It understands exactly the requests
 * that these commands make: read one lock, list all, change annotations, watch.
 */
import { type Clock, onAbort, sleep } from "@tenure/base";
import type { Answer, LockView } from "@tenure/core";
import type { AnnotationChanges, OperableLock, StoredLock } from "@tenure/election/internal";
import { KubeError, type KubeRequest, type WatchRequest } from "@tenure/kube";
import type { LockObject } from "../elections/lock-object.ts";

/** The limit of one request to the store. */
const limitMs = 10_000;
/** How often all locks of the store are read, for a watch without a name. */
const pollMs = 1_000;

export interface StoreParts {
  /** A lock of the store with this name. */
  readonly open: (name: string) => Promise<OperableLock>;
  /** What stands where a Lease has its namespace. */
  readonly namespace: string;
  readonly clock: Clock;
}

export class StoreClient {
  readonly #parts: StoreParts;

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async request<T = unknown>({ method, path, body }: KubeRequest): Promise<T> {
    const name = /\/leases\/([^/]+)$/.exec(path)?.[1];
    const isList = /\/leases$/.test(path);
    if (method === "GET" && isList) {
      const lock = await this.#parts.open("any");
      const found = await this.#limited((signal) => lock.list(signal)).catch((error: Error) => {
        throw new KubeError("Unreachable", error.message, { cause: error });
      });
      return { items: [...found].map(([key, view]) => this.#lease(key, view)) } as T;
    }
    if (name === undefined) throw new KubeError("NotFound", "a store has only locks", { status: 404 });
    const lock = await this.#parts.open(name);
    const view = viewIn(await this.#limited((signal) => lock.read(signal)), name);
    if (method === "GET") return this.#lease(name, view) as T;
    const { resourceVersion, annotations } = (body as { metadata: PatchedMetadata }).metadata;
    if (resourceVersion !== view.version) throw conflict(name);
    return this.#lease(
      name,
      viewIn(await this.#limited((signal) => lock.annotate(view, annotations, signal)), name),
    ) as T;
  }

  async watch<T>(request: WatchRequest<T>): Promise<void> {
    const name = /metadata\.name=(.+)$/.exec(request.query?.fieldSelector ?? "")?.[1];
    await (name === undefined ? this.#watchAll(request) : this.#watchOne(name, request));
  }

  async #watchOne<T>(name: string, { signal, onEvent, onUp, onDown }: WatchRequest<T>): Promise<void> {
    const lock = await this.#parts.open(name);
    const report = (type: "MODIFIED" | "DELETED", object: LockObject) => {
      if (!signal.aborted) onEvent({ type, object: object as T });
    };
    const absent = this.#lease(name, undefined);
    const read = async () => {
      const answer = await this.#limited((limit) => lock.read(limit));
      if (answer.kind === "found") report("MODIFIED", this.#lease(name, answer.view));
      else if (answer.kind === "absent") report("DELETED", absent);
    };
    const stopPolling = new AbortController();
    await new Promise<void>((resolve) => {
      onAbort(signal, () => {
        stopPolling.abort();
        resolve();
      });
      lock.watch?.(
        {
          observed: (view) => report("MODIFIED", this.#lease(name, view)),
          deleted: () => report("DELETED", absent),
          changed: () => void read(),
          up: () => {
            if (!signal.aborted) onUp({ resumed: true });
            void read();
          },
          down: (failure) => {
            if (!signal.aborted) onDown(new KubeError("Unreachable", failure?.message ?? "the watch ended"));
          },
        },
        signal,
      );
      // A pooler may lose notifications, and then only reads tell.
      void this.#every(stopPolling.signal, read);
    });
  }

  async #watchAll<T>({ signal, onEvent, onUp, onDown }: WatchRequest<T>): Promise<void> {
    const lock = await this.#parts.open("any");
    let known = new Map<string, LockView>();
    let isUp = false;
    const poll = async () => {
      try {
        const found = await this.#limited((limit) => lock.list(limit));
        if (signal.aborted) return;
        if (!isUp) onUp({ resumed: known.size > 0 });
        isUp = true;
        for (const [name, view] of found) {
          if (known.get(name)?.version !== view.version)
            onEvent({ type: "MODIFIED", object: this.#lease(name, view) as T });
        }
        for (const name of known.keys())
          if (!found.has(name)) onEvent({ type: "DELETED", object: this.#lease(name, undefined) as T });
        known = new Map(found);
      } catch (error) {
        if (isUp && !signal.aborted) onDown(new KubeError("Unreachable", (error as Error).message));
        isUp = false;
      }
    };
    await poll();
    await this.#every(signal, poll);
  }

  async #every(signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#parts.clock, pollMs, signal);
      if (!signal.aborted) await act();
    }
  }

  #lease(name: string, view: LockView | undefined): LockObject {
    const { record = {}, annotations = {} } = (view?.object ?? {}) as Partial<StoredLock>;
    return {
      kind: "Lease",
      metadata: {
        name,
        namespace: this.#parts.namespace,
        annotations,
        ...(view && { uid: view.uid, resourceVersion: view.version }),
      },
      spec: record,
    };
  }

  async #limited<R>(act: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const limit = new AbortController();
    const { clock } = this.#parts;
    const cancel = clock.at(clock.now().monoMs + limitMs, () => limit.abort());
    try {
      return await act(limit.signal);
    } finally {
      cancel();
    }
  }
}

interface PatchedMetadata {
  readonly resourceVersion: string;
  readonly annotations: AnnotationChanges;
}

function viewIn(answer: Answer, name: string): LockView {
  switch (answer.kind) {
    case "found":
      return answer.view;
    case "absent":
      throw new KubeError("NotFound", `there is no lock ${name}`, { status: 404 });
    case "conflict":
      throw conflict(name);
    case "failed":
      throw new KubeError(
        answer.failure.kind === "denied" ? "Forbidden" : "Unreachable",
        answer.failure.message,
      );
  }
}

function conflict(name: string): KubeError {
  return new KubeError("Conflict", `the lock ${name} has changed`, { status: 409 });
}
