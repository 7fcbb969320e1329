/**
 * The client of an election: requests that end within their time limit, and a watch that reconnects by itself.
 * It has its own connections, so that no request of the application delays a renewal.
 * It has no cache and no rate limit, and it retries only where the documentation says so. Other retries are up to the caller.
 */
import { messageOf } from "@tenure/base";
import type { ClusterConfig } from "./config.ts";
import { KubeError } from "./errors.ts";
import { performRequest } from "./http/request.ts";
import { openSession, type Session } from "./http/session.ts";
import { type Platform, systemPlatform } from "./platform.ts";
import type { ClientContext, KubeRequest, WatchRequest } from "./request-types.ts";
import { runWatch } from "./watch/watch.ts";

/** An election has one request in flight at a time. This many connections serve a thousand elections almost without a queue. */
const defaultMaxConnections = 16;

export type KubeClientOptions = {
  /** @default "tenure" */
  userAgent?: string | undefined;
  /**
   * How many requests may be in flight at once, each on its own connection. Further requests wait within their time limits,
   * and the newest goes first. New connections replace these when a request fails, or when one times out and the server has
   * not responded for a second. Watches do not count: each has its own connection.
   * @default 16
   */
  maxConnections?: number | undefined;
  /** For tests. @default the real machine */
  platform?: Platform | undefined;
};

export class KubeClient {
  readonly #source: ClusterConfig | Promise<ClusterConfig> | (() => Promise<ClusterConfig>);
  readonly #platform: Platform;
  readonly #userAgent: string;
  readonly #maxConnections: number;
  readonly #cancels = new Set<(error: KubeError) => void>();
  #config: Promise<ClusterConfig> | undefined;
  #session: Session | Promise<Session> | undefined;
  #closed = false;

  /** @param config a function is called at the first use, and again at the next use if it fails */
  constructor(
    config: ClusterConfig | Promise<ClusterConfig> | (() => Promise<ClusterConfig>),
    options: KubeClientOptions = {},
  ) {
    this.#source = config;
    this.#platform = options.platform ?? systemPlatform;
    this.#userAgent = options.userAgent ?? "tenure";
    this.#maxConnections = checkMaxConnections(options.maxConnections ?? defaultMaxConnections);
    // The first request reports it. Without this, Node reports an unhandledRejection before that.
    if (config instanceof Promise) config.catch(() => {});
  }

  /**
   * Sends one request. Resolves with the parsed object of a 2xx response (`undefined` for a 204 without a body). Rejects with
   * a `KubeError`. It is sent once, with two exceptions: after a 401 with renewed credentials, and a GET on a connection that
   * the server had already closed. A write is not repeated after `Unreachable`, `Timeout` or `Aborted`: it may have happened.
   */
  async request<T>(request: KubeRequest): Promise<T> {
    this.#throwIfClosed();
    return (await performRequest(this.#context(), request)) as T;
  }

  /**
   * Follows a collection until `request.signal` aborts or the client is closed, then resolves. Failures go to `onDown` and
   * are retried without limit. Rejects only if a callback throws, with the error that it threw.
   */
  async watch<T>(request: WatchRequest<T>): Promise<void> {
    this.#throwIfClosed();
    await runWatch(this.#context(), request);
  }

  /** The namespace of the context or of the pod. */
  async namespace(): Promise<string | undefined> {
    return (await this.#loadConfig()).namespace;
  }

  /** The address of the API server. */
  async serverAddress(): Promise<string> {
    return (await this.#loadConfig()).server;
  }

  /**
   * Opens the connection of the first request now, so that a program can prepare other things meanwhile. Sends nothing. If this fails,
   * the first request fails in the same way and says why.
   */
  connectAhead(): void {
    if (this.#closed) return;
    Promise.resolve(this.#openSession())
      .then(
        (session) => (this.#closed ? undefined : session.connectAhead()),
        () => {},
      )
      .catch(() => {});
  }

  /** Ends everything at once: requests reject with `Aborted`, watches resolve, sockets close. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const cancel of [...this.#cancels]) cancel(closedError());
    Promise.resolve(this.#session).then(
      (session) => session?.close(),
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
        const message = `Cannot load the cluster configuration: ${messageOf(error)}`;
        throw new KubeError("BadConfig", message, { cause: error });
      }
    })();
    return this.#config;
  }

  #openSession(): Session | Promise<Session> {
    this.#session ??= (async () => {
      return openSession(await this.#loadConfig(), {
        platform: this.#platform,
        userAgent: this.#userAgent,
        maxConnections: this.#maxConnections,
      });
    })().then(
      (session) => {
        this.#session = session;
        return session;
      },
      (error) => {
        this.#session = undefined;
        throw error;
      },
    );
    return this.#session;
  }

  #throwIfClosed(): void {
    if (this.#closed) throw closedError();
  }
}

function checkMaxConnections(value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new KubeError(
    "BadConfig",
    `Cannot create a client: maxConnections must be a whole number of at least 1: ${value}`,
  );
}

function closedError(): KubeError {
  return new KubeError("Aborted", "Cannot send the request: the client is closed.");
}
