/**
 * One watch of a collection for all locks in it that share a client. A thousand elections of one process need one connection
 * for each namespace and kind. Each lock gets what a watch of its own would give: every change of its object, in order, and
 * every gap in which a change may have been missed. If the owner of a lock throws, only that lock's subscription ends.
 *
 * It needs permission to watch the whole collection. A lock that subscribes later does not get the current state of its object:
 * a candidate reads its lock after it has subscribed.
 */
import type { KubeClient, WatchEvent, WatchRequest } from "@tenure/kube";
import type { KubeObject } from "./object-kind.ts";

interface Subscriber {
  readonly request: WatchRequest<KubeObject>;
  /** Whether it has been notified of the connection's state. */
  knowsState: boolean;
  hasEnded: boolean;
  end(error?: unknown): void;
}

const watches = new WeakMap<KubeClient, Map<string, SharedWatch>>();

/**
 * Like `client.watch`, for the object with this name: resolves when the signal aborts or the client is closed, and rejects if a
 * callback of this request throws.
 */
export function watchShared(
  client: KubeClient,
  name: string,
  request: WatchRequest<KubeObject>,
): Promise<void> {
  const { path } = request;
  const watchesOfClient = watches.get(client) ?? new Map<string, SharedWatch>();
  watches.set(client, watchesOfClient);
  const watch = watchesOfClient.get(path) ?? new SharedWatch();
  const subscription = watch.subscribe(name, request);
  if (!watchesOfClient.has(path) && watch.hasSubscribers) {
    watchesOfClient.set(path, watch);
    // A lock that subscribes after the end gets a new watch.
    watch.start(client, request, () => watchesOfClient.delete(path));
  }
  return subscription;
}

class SharedWatch {
  readonly #controller = new AbortController();
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  #onEnd = (): void => {};
  /** Notifies a new subscriber of the connection's state. */
  #notifyOfState: ((request: WatchRequest<KubeObject>) => void) | undefined;

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0;
  }

  subscribe(name: string, request: WatchRequest<KubeObject>): Promise<void> {
    const { signal } = request;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const sameName = this.#subscribers.get(name) ?? new Set<Subscriber>();
      this.#subscribers.set(name, sameName);
      const subscriber: Subscriber = {
        request,
        knowsState: false,
        hasEnded: false,
        end: (error) => {
          if (subscriber.hasEnded) return;
          subscriber.hasEnded = true;
          signal.removeEventListener("abort", onAbort);
          sameName.delete(subscriber);
          if (sameName.size === 0) this.#subscribers.delete(name);
          if (error === undefined) resolve();
          else reject(error);
          if (this.hasSubscribers) return;
          this.#onEnd();
          this.#controller.abort();
        },
      };
      const onAbort = () => subscriber.end();
      sameName.add(subscriber);
      signal.addEventListener("abort", onAbort, { once: true });
      // Asynchronous, as with a separate watch, which does not call back within the call that starts it either.
      void Promise.resolve().then(() => {
        const call = this.#notifyOfState;
        if (call && !subscriber.knowsState) this.#notifyState(subscriber, call);
      });
    });
  }

  start(client: KubeClient, { path, idleMs }: WatchRequest<KubeObject>, onEnd: () => void): void {
    this.#onEnd = onEnd;
    const watching = client.watch<KubeObject>({
      path,
      idleMs,
      signal: this.#controller.signal,
      onEvent: (event) => this.#route(event),
      onUp: (info) => {
        // A later subscriber has not seen an earlier connection, so for it nothing is resumed.
        this.#notifyAll(
          ({ onUp }) => onUp(info),
          ({ onUp }) => onUp({ resumed: false }),
        );
      },
      onDown: (error) => this.#notifyAll(({ onDown }) => onDown(error)),
    });
    // By itself the watch ends only if the client is closed.
    watching.then(
      () => this.#endAll(),
      (error) => this.#endAll(error),
    );
  }

  #route(event: WatchEvent<KubeObject>): void {
    const sameName = this.#subscribers.get(event.object.metadata?.name ?? "");
    if (!sameName) return;
    for (const subscriber of [...sameName]) notify(subscriber, ({ onEvent }) => onEvent(event));
  }

  #notifyAll(call: (request: WatchRequest<KubeObject>) => void, callForLater = call): void {
    this.#notifyOfState = callForLater;
    for (const subscriber of this.#all()) this.#notifyState(subscriber, call);
  }

  #notifyState(subscriber: Subscriber, call: (request: WatchRequest<KubeObject>) => void): void {
    subscriber.knowsState = true;
    notify(subscriber, call);
  }

  #endAll(error?: unknown): void {
    for (const subscriber of this.#all()) subscriber.end(error);
  }

  #all(): Subscriber[] {
    return [...this.#subscribers.values()].flatMap((sameName) => [...sameName]);
  }
}

function notify(subscriber: Subscriber, call: (request: WatchRequest<KubeObject>) => void): void {
  // A subscriber that was notified before may have ended this one.
  if (subscriber.hasEnded) return;
  try {
    call(subscriber.request);
  } catch (error) {
    subscriber.end(error);
  }
}
