/**
 * A watch that reconnects by itself: it resumes where it stopped, starts over when the server does not have that history (any
 * more, or not yet because its store was restored from a backup), and retries without limit. Events of one connection arrive in order and without gaps. No callback is called after the signal
 * aborts. It does not report every intermediate state, nor deletions in a part of the history that was lost.
 */
import { Backoff } from "@tenure/base";
import { Cancellation } from "../cancellation.ts";
import { KubeError } from "../errors.ts";
import { networkError } from "../http/network-error.ts";
import { withQuery } from "../http/request.ts";
import { errorFromResponse, errorFromStatus } from "../http/response.ts";
import { describeNeed, rbacRuleFor } from "../rbac.ts";
import type { ClientContext, WatchEvent, WatchRequest } from "../request-types.ts";
import { CallbackError, readStream } from "./stream.ts";

/** The server ends a watch after a random time in this range, so that reconnects are rare and spread out. */
const minTimeoutSeconds = 3000;
const maxTimeoutSeconds = 3600;
const backoff = { firstMs: 100, mostMs: 5_000, jitter: 0.5 };
/** The longest wait after a 401 or 403, and the longest that a server can ask for. */
const longestDelayMs = 30_000;
/** A connection that lasts this long resets the back-off. */
const stableMs = 5_000;
/** A stream that ends sooner than this counts as a failure the second time. */
const tooShortMs = 1_000;

/** A resumed stream without a line for this long may wait for a version in the future. Bookmarks come about every minute. */
const blindMs = 120_000;

const needPerson: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "NotFound", "HttpError"]);

type State = "starting" | "up" | "down";

export async function runWatch<T>(client: ClientContext, request: WatchRequest<T>): Promise<void> {
  const cancellation = new Cancellation();
  cancellation.cancelOnAbort(request.signal, () => "watch");
  cancellation.addCleanup(client.register(cancellation.cancel));
  try {
    await new Watch(client, request, cancellation).run();
  } catch (error) {
    if (error instanceof CallbackError) throw error.cause;
    if (cancellation.error === undefined) throw error;
  } finally {
    cancellation.dispose();
  }
}

class Watch<T> {
  readonly #client: ClientContext;
  readonly #request: WatchRequest<T>;
  readonly #cancellation: Cancellation;
  readonly #backoff: Backoff;
  #state: State = "starting";
  #reportedCode: string | undefined;
  #resourceVersion: string | undefined;
  #resumedFrom: string | undefined;
  #hasLine = false;
  #shortStreams = 0;
  #hasRefreshed = false;

  constructor(client: ClientContext, request: WatchRequest<T>, cancellation: Cancellation) {
    this.#client = client;
    this.#request = request;
    this.#cancellation = cancellation;
    this.#backoff = new Backoff(backoff, () => client.platform.random());
  }

  async run(): Promise<void> {
    while (this.#cancellation.error === undefined) {
      const error = await this.#connectOnce();
      if (this.#cancellation.error !== undefined) return;
      if (error === undefined) continue;
      this.#report(error);
      await this.#pause(error);
      this.#hasRefreshed = false;
    }
  }

  /** Returns the error to report before a wait, or nothing if the next connection may follow at once. */
  async #connectOnce(): Promise<KubeError | undefined> {
    const { clock } = this.#client.platform;
    const resumedFrom = this.#resourceVersion;
    this.#resumedFrom = resumedFrom;
    this.#hasLine = false;
    let connectedMs: number | undefined;
    let failure: KubeError | undefined;
    try {
      await this.#stream(resumedFrom, () => {
        connectedMs = clock.now().monoMs;
        this.#connected(resumedFrom !== undefined);
      });
    } catch (error) {
      if (error instanceof CallbackError) throw error;
      failure = networkError(error, this.#action(), "the API server");
    }
    const lastedMs = connectedMs === undefined ? 0 : clock.now().monoMs - connectedMs;
    if (lastedMs >= stableMs) this.#backoff.reset();
    if (resumedFrom !== undefined && failure !== undefined && isUnknownVersion(failure)) {
      this.#resourceVersion = undefined;
      return undefined;
    }
    // An API server says nothing about a version in the future: it waits until its store gets there.
    const isSilent = connectedMs !== undefined && !this.#hasLine;
    if (isSilent && (failure?.code === "Timeout" || lastedMs >= blindMs)) this.#resourceVersion = undefined;
    if (failure?.code === "Unauthorized" && !this.#hasRefreshed) return this.#refresh();
    if (failure !== undefined) return failure;
    // The stream ended normally. If the server ends every stream at once, report it and wait, to avoid a tight loop.
    this.#shortStreams = lastedMs < tooShortMs ? this.#shortStreams + 1 : 0;
    if (this.#shortStreams < 2) return undefined;
    return new KubeError(
      "Unreachable",
      `Cannot ${this.#action()}: the server ends every stream as soon as it starts.`,
    );
  }

  async #stream(resourceVersion: string | undefined, onConnected: () => void): Promise<void> {
    const { platform } = this.#client;
    const session = await this.#cancellation.wait(this.#client.session());
    const spread = Math.floor(platform.random() * (maxTimeoutSeconds - minTimeoutSeconds + 1));
    const need = rbacRuleFor("GET", withQuery(this.#request.path, this.#request.query), true);
    await readStream({
      session,
      clock: platform.clock,
      cancellation: this.#cancellation,
      action: this.#action(),
      idleMs: this.#request.idleMs,
      path: withQuery(this.#request.path, {
        ...this.#request.query,
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: String(minTimeoutSeconds + spread),
        resourceVersion,
      }),
      onConnected,
      onLine: (line) => this.#handleLine(line),
      toError: (response) => errorFromResponse(response, need, platform.clock.now().wallMs),
    });
  }

  #handleLine(line: unknown): KubeError | undefined {
    const { type, object } = (line ?? {}) as {
      type?: unknown;
      object?: { metadata?: { resourceVersion?: unknown } };
    };
    if (type === "ERROR") {
      const query = withQuery(this.#request.path, this.#request.query);
      return errorFromStatus(object, rbacRuleFor("GET", query, true));
    }
    const version = object?.metadata?.resourceVersion;
    const isKnown = type === "ADDED" || type === "MODIFIED" || type === "DELETED" || type === "BOOKMARK";
    if (!isKnown || typeof version !== "string") {
      return new KubeError(
        "BadResponse",
        `Cannot ${this.#action()}: a line of the stream is not a watch event.`,
      );
    }
    this.#hasLine = true;
    if (isOlder(version, this.#resumedFrom)) {
      const why = `the server went back from version ${this.#resumedFrom} to ${version}`;
      return new KubeError("Gone", `Cannot ${this.#action()}: ${why}.`);
    }
    if (type !== "BOOKMARK") this.#request.onEvent({ type, object } as WatchEvent<T>);
    // After the callback, so that an event for which it threw does not count as delivered.
    this.#resourceVersion = version;
    return undefined;
  }

  #connected(resumed: boolean): void {
    const isSeamless = this.#state === "up" && resumed;
    this.#state = "up";
    this.#reportedCode = undefined;
    this.#hasRefreshed = false;
    if (!isSeamless) this.#request.onUp({ resumed });
  }

  #report(error: KubeError): void {
    const isNew = this.#state !== "down" || (needPerson.has(error.code) && error.code !== this.#reportedCode);
    this.#state = "down";
    if (!isNew) return;
    this.#reportedCode = error.code;
    try {
      this.#request.onDown(error);
    } catch (thrown) {
      throw new CallbackError("a callback of the watch threw", { cause: thrown });
    }
  }

  async #refresh(): Promise<KubeError | undefined> {
    this.#hasRefreshed = true;
    try {
      const session = await this.#cancellation.wait(this.#client.session());
      await this.#cancellation.race(session.refresh());
      return undefined;
    } catch (error) {
      return networkError(error, this.#action(), "the API server");
    }
  }

  async #pause(error: KubeError): Promise<void> {
    const isDenied = error.code === "Unauthorized" || error.code === "Forbidden";
    const delayMs = Math.max(
      this.#backoff.next(isDenied ? longestDelayMs : undefined),
      Math.min(error.retryAfterMs ?? 0, longestDelayMs),
    );
    await this.#cancellation.sleep(this.#client.platform.clock, delayMs);
  }

  #action(): string {
    return describeNeed(rbacRuleFor("GET", withQuery(this.#request.path, this.#request.query), true));
  }
}

/** Whether the server does not have the requested version: no longer (410), or not yet. */
function isUnknownVersion({ code, details }: KubeError): boolean {
  if (code === "Gone") return true;
  const { causes } = ((details as { details?: unknown } | undefined)?.details ?? {}) as { causes?: unknown };
  return Array.isArray(causes) && causes.some((cause) => cause?.reason === "ResourceVersionTooLarge");
}

function isOlder(version: string, than: string | undefined): boolean {
  const areNumbers = than !== undefined && /^\d+$/.test(version) && /^\d+$/.test(than);
  return areNumbers && BigInt(version) < BigInt(than);
}
