/** What callers pass to `KubeClient.request` and `KubeClient.watch`, and what those need from their client. */
import type { KubeError } from "./errors.ts";
import type { Session } from "./http/session.ts";
import type { Platform } from "./platform.ts";

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
   * The promise settles within this time. It covers everything: loading the configuration and the credentials, waiting for
   * a free connection, and the retry after a 401.
   * @default 10_000
   */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type WatchEvent<T> = { type: "ADDED" | "MODIFIED" | "DELETED"; object: T };

export type WatchRequest<T> = {
  /** A collection. Narrow it with a `fieldSelector` in `query`. */
  path: string;
  query?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends the watch. No callback is called afterwards. */
  signal: AbortSignal;
  /**
   * Reconnect if no byte arrives for this long. An idle API server sends a bookmark about every minute.
   * @default no limit
   */
  idleMs?: number | undefined;
  onEvent(event: WatchEvent<T>): void;
  /**
   * Connected: at the start, after every `onDown`, and when the server does not have the history: no longer (410 Gone),
   * or because its store was restored from a backup. With
   * `resumed: false` the current objects follow as ADDED events, but deletions during the gap are not reported. Read the
   * objects once if that matters.
   */
  onUp(info: { resumed: boolean }): void;
  /**
   * Disconnected. The watch reconnects by itself. Called once per interruption, and once more if the reason changes to one
   * that only a person can fix (401, 403, 404).
   */
  onDown(error: KubeError): void;
};

/** What requests and watches need from their client. */
export type ClientContext = {
  readonly platform: Platform;
  /** Without a promise once it is open, because every renewal asks for it. */
  session(): Session | Promise<Session>;
  /** `close()` calls `cancel`. The returned function removes it. */
  register(cancel: (error: KubeError) => void): () => void;
};
