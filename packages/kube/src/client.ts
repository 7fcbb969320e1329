/**
 * The client that an election talks through: requests that end when they were told to, and a watch that heals itself.
 * Its connections are its own: nothing of the application can queue in front of a renewal.
 * It keeps no cache, does no rate limiting and no retries except those it documents: the caller owns the decision.
 */
import type { ClusterConfig } from "./config.ts";
import { KubeError } from "./errors.ts";
import type { Session } from "./http/session.ts";
import { type Platform, systemPlatform } from "./platform.ts";

export type KubeRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the root of the API: `/apis/coordination.k8s.io/v1/namespaces/prod/leases/my-lock`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** @default "application/json" */
  contentType?: string | undefined;
  /**
   * After this the promise has settled, whatever else is going on: configuration, credentials, the wait for a free
   * connection, a retry after 401.
   * @default 10_000
   */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type WatchEvent<T> = { type: "ADDED" | "MODIFIED" | "DELETED"; object: T };

export type WatchRequest<T> = {
  /** A collection; narrow it with a `fieldSelector` in `query`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends the watch; no callback is called afterwards. */
  signal: AbortSignal;
  /**
   * Reconnect if not one byte came for so long. A quiet API server sends a bookmark about every minute.
   * @default no limit
   */
  idleMs?: number | undefined;
  onEvent(event: WatchEvent<T>): void;
  /**
   * Connected: at the start, after every `onDown`, and when history was lost (410 Gone). With `resumed: false` the current
   * objects follow as ADDED events, and deletions in the gap are not told: read once if that matters.
   */
  onUp(info: { resumed: boolean }): void;
  /**
   * Not connected; it tries again by itself. Called once per interruption, and once more if the reason turns into one
   * that only a person can mend (401, 403, 404).
   */
  onDown(error: KubeError): void;
};

/** One election has one request under way; a thousand that share a client are served by these without a queue to speak of. */
const defaultMaxConnections = 16;

export type KubeClientOptions = {
  /** @default "tenure" */
  userAgent?: string | undefined;
  /**
   * So many requests are under way at once, each on a connection of its own; more of them wait for their turn within their
   * time limits, and the last one goes first. They go on over fresh connections when one fails, or when one gives up and
   * nothing has been answered for a second. Watches do not count: each has its own connection.
   * @default 16
   */
  maxConnections?: number | undefined;
  /** @default the real machine */
  platform?: Platform | undefined;
};

export class KubeClient {
  readonly #source: ClusterConfig | Promise<ClusterConfig> | (() => Promise<ClusterConfig>);
  readonly #platform: Platform;
  readonly #userAgent: string;
  readonly #maxConnections: number;
  readonly #cancels = new Set<(error: KubeError) => void>();
  #config: Promise<ClusterConfig> | undefined;
  #session: Promise<Session> | undefined;
  #closed = false;

  /** @param config a function is called at the first use, and again at the next use if it failed. */
  constructor(
    config: ClusterConfig | Promise<ClusterConfig> | (() => Promise<ClusterConfig>),
    options: KubeClientOptions = {},
  ) {
    this.#source = config;
    this.#platform = options.platform ?? systemPlatform;
    this.#userAgent = options.userAgent ?? "tenure";
    this.#maxConnections = checkMaxConnections(options.maxConnections ?? defaultMaxConnections);
    // Reported by the first request, not by an unhandledRejection before there is one.
    if (config instanceof Promise) config.catch(() => {});
  }

  /**
   * One request; resolves with the parsed object of a 2xx answer (`undefined` if it has no body), rejects with a
   * `KubeError`. Sends once, except: a 401 renews the credentials and sends a second time; a GET on a connection that the
   * server had already closed is sent again on a fresh one. A write is never repeated: after `Unreachable`, `Timeout` or
   * `Aborted` it may have happened.
   */
  async request<T>(request: KubeRequest): Promise<T> {
    this.#refuseIfClosed();
    const { performRequest } = await import("./http/request.ts");
    return (await performRequest(this.#context(), request)) as T;
  }

  /**
   * Follows a collection until `request.signal` aborts (or the client is closed), then resolves. Network trouble goes to
   * `onDown` and is retried for ever. Rejects only if a callback throws, with what it threw.
   */
  async watch<T>(request: WatchRequest<T>): Promise<void> {
    this.#refuseIfClosed();
    const { runWatch } = await import("./watch/watch.ts");
    await runWatch(this.#context(), request);
  }

  /** The namespace of the context or of the pod. */
  async namespace(): Promise<string | undefined> {
    return (await this.#loadConfig()).namespace;
  }

  /** Ends everything at once: running requests reject as `Aborted`, watches resolve, sockets close. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const cancel of [...this.#cancels]) cancel(closedError());
    this.#session?.then(
      (session) => session.close(),
      () => {},
    );
  }

  #context(): ClientContext {
    return {
      platform: this.#platform,
      session: () => this.#openSession(),
      register: (cancel) => {
        if (this.#closed) cancel(closedError());
        else this.#cancels.add(cancel);
        return () => this.#cancels.delete(cancel);
      },
    };
  }

  #loadConfig(): Promise<ClusterConfig> {
    this.#config ??= (async () => {
      try {
        return await (typeof this.#source === "function" ? this.#source() : this.#source);
      } catch (error) {
        this.#config = undefined;
        if (error instanceof KubeError) throw error;
        const why = error instanceof Error ? error.message : String(error);
        throw new KubeError("BadConfig", `Cannot load the configuration of the cluster: ${why}`, {
          cause: error,
        });
      }
    })();
    return this.#config;
  }

  #openSession(): Promise<Session> {
    this.#session ??= (async () => {
      const [config, { openSession }] = await Promise.all([this.#loadConfig(), import("./http/session.ts")]);
      return openSession(config, {
        platform: this.#platform,
        userAgent: this.#userAgent,
        maxConnections: this.#maxConnections,
      });
    })().catch((error) => {
      this.#session = undefined;
      throw error;
    });
    return this.#session;
  }

  #refuseIfClosed(): void {
    if (this.#closed) throw closedError();
  }
}

/** What requests and watches need of their client. */
export type ClientContext = {
  readonly platform: Platform;
  session(): Promise<Session>;
  /** Called at `close()`; the returned function takes it back. */
  register(cancel: (error: KubeError) => void): () => void;
};

function checkMaxConnections(value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new KubeError(
    "BadConfig",
    `Cannot make a client: maxConnections must be a whole number from 1 on: ${value}`,
  );
}

function closedError(): KubeError {
  return new KubeError("Aborted", "Cannot go on: the client was closed.");
}
