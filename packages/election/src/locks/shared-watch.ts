/**
 * One watch of a collection for all the locks in it that share a client: a thousand elections of one process follow their
 * locks on one connection for each namespace and kind. Upholds what a watch of one name upholds: each lock hears of every
 * change of its own object, in order, and of every gap in which one may have been missed. A lock whose owner throws ends
 * its own part and nobody else's.
 *
 * It needs the right to watch the whole collection. It does not show a lock that joins what is known already: a candidate
 * reads its lock after it has joined.
 */
import type { KubeClient, WatchEvent, WatchRequest } from "@tenure/kube";
import type { KubeObject } from "./object-lock.ts";

/** A watch of a collection, of which one object counts. */
export type SharedRequest = WatchRequest<KubeObject> & { readonly name: string };

interface Follower {
  readonly request: SharedRequest;
  /** Whether it was told how the connection is since it joined. */
  isTold: boolean;
  isOver: boolean;
  /** Ends its part; with an error if there is one. */
  end(error?: unknown): void;
}

const watches = new WeakMap<KubeClient, Map<string, SharedWatch>>();

/** As `client.watch`: resolves when the signal aborts or the client is closed, rejects if a callback of this request throws. */
export function watchShared(client: KubeClient, request: SharedRequest): Promise<void> {
  const { path } = request;
  const ofClient = watches.get(client) ?? new Map<string, SharedWatch>();
  watches.set(client, ofClient);
  const watch = ofClient.get(path) ?? new SharedWatch();
  const joined = watch.join(request);
  if (!ofClient.has(path) && watch.isWanted) {
    ofClient.set(path, watch);
    // A lock that joins after the end gets another one.
    watch.start(client, request, () => ofClient.delete(path));
  }
  return joined;
}

class SharedWatch {
  readonly #controller = new AbortController();
  readonly #followers = new Map<string, Set<Follower>>();
  #onEnd = (): void => {};
  /** What one that joins now has missed. */
  #greet: ((request: SharedRequest) => void) | undefined;

  get isWanted(): boolean {
    return this.#followers.size > 0;
  }

  join(request: SharedRequest): Promise<void> {
    const { name, signal } = request;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const namesakes = this.#followers.get(name) ?? new Set<Follower>();
      this.#followers.set(name, namesakes);
      const follower: Follower = {
        request,
        isTold: false,
        isOver: false,
        end: (error) => {
          if (follower.isOver) return;
          follower.isOver = true;
          signal.removeEventListener("abort", leave);
          namesakes.delete(follower);
          if (namesakes.size === 0) this.#followers.delete(name);
          if (error === undefined) resolve();
          else reject(error);
          if (this.isWanted) return;
          this.#onEnd();
          this.#controller.abort();
        },
      };
      const leave = () => follower.end();
      namesakes.add(follower);
      signal.addEventListener("abort", leave, { once: true });
      // Later, as a watch of its own could not answer before it was asked either.
      queueMicrotask(() => {
        const greet = this.#greet;
        if (greet && !follower.isTold) this.#tellState(follower, greet);
      });
    });
  }

  start(client: KubeClient, { path, idleMs }: SharedRequest, onEnd: () => void): void {
    this.#onEnd = onEnd;
    const watching = client.watch<KubeObject>({
      path,
      idleMs,
      signal: this.#controller.signal,
      onEvent: (event) => this.#route(event),
      onUp: (info) => {
        // Who joins later was not there before a gap, so for it there was none.
        this.#tellAll(
          ({ onUp }) => onUp(info),
          ({ onUp }) => onUp({ resumed: false }),
        );
      },
      onDown: (error) => this.#tellAll(({ onDown }) => onDown(error)),
    });
    // By itself it ends only with a client that was closed.
    watching.then(
      () => this.#endAll(),
      (error) => this.#endAll(error),
    );
  }

  #route(event: WatchEvent<KubeObject>): void {
    const namesakes = this.#followers.get(event.object.metadata?.name ?? "");
    for (const follower of [...(namesakes ?? [])]) tell(follower, ({ onEvent }) => onEvent(event));
  }

  #tellAll(what: (request: SharedRequest) => void, greet = what): void {
    this.#greet = greet;
    for (const follower of this.#all()) this.#tellState(follower, what);
  }

  #tellState(follower: Follower, what: (request: SharedRequest) => void): void {
    follower.isTold = true;
    tell(follower, what);
  }

  #endAll(error?: unknown): void {
    for (const follower of this.#all()) follower.end(error);
  }

  #all(): Follower[] {
    return [...this.#followers.values()].flatMap((namesakes) => [...namesakes]);
  }
}

function tell(follower: Follower, what: (request: SharedRequest) => void): void {
  // Another one that was told before it may have ended it.
  if (follower.isOver) return;
  try {
    what(follower.request);
  } catch (error) {
    follower.end(error);
  }
}
