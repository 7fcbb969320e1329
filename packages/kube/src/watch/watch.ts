/**
 * A watch that heals itself: it resumes where it was, starts over when history is gone, and tries again for ever.
 * Upholds: events of one connection come in order and none is skipped; no callback after the signal; never a tight loop.
 * It does not promise every intermediate state, nor deletions that happened while history was lost.
 */
import { Cancellation } from "../cancellation.ts";
import type { ClientContext, WatchEvent, WatchRequest } from "../client.ts";
import { KubeError } from "../errors.ts";
import { networkError } from "../http/network-error.ts";
import { withQuery } from "../http/request.ts";
import { errorFromAnswer, errorFromStatus } from "../http/status.ts";
import { describeNeed, rbacRuleFor } from "../rbac.ts";
import { Backoff } from "./backoff.ts";
import { CallbackError, readStream } from "./stream.ts";

/** The server ends a watch after a random time of this range, so that reconnects spread and are rare. */
const minTimeoutSeconds = 3000;
const maxTimeoutSeconds = 3600;
const maxDelayMs = 5_000;
/** For what only a person can mend, and for what the server asks to be left alone with. */
const maxPatientDelayMs = 30_000;
/** A connection that lived so long was a good one; one that ended sooner than the second of these was not. */
const stableMs = 5_000;
const tooShortMs = 1_000;

const needsPerson: ReadonlySet<string> = new Set(["Unauthorized", "Forbidden", "NotFound"]);

type State = "starting" | "up" | "down";

export async function runWatch<T>(client: ClientContext, request: WatchRequest<T>): Promise<void> {
  const cancellation = new Cancellation();
  cancellation.followSignal(request.signal, "watch");
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
  #reported: string | undefined;
  #resourceVersion: string | undefined;
  #shortStreams = 0;
  #refreshed = false;

  constructor(client: ClientContext, request: WatchRequest<T>, cancellation: Cancellation) {
    this.#client = client;
    this.#request = request;
    this.#cancellation = cancellation;
    this.#backoff = new Backoff(client.platform);
  }

  async run(): Promise<void> {
    while (this.#cancellation.error === undefined) {
      const error = await this.#connectOnce();
      if (this.#cancellation.error !== undefined) return;
      if (error === undefined) continue;
      this.#report(error);
      await this.#pause(error);
      this.#refreshed = false;
    }
  }

  /** Returns the error to report and wait for, or nothing if the next connection may follow at once. */
  async #connectOnce(): Promise<KubeError | undefined> {
    const { platform } = this.#client;
    const resumedFrom = this.#resourceVersion;
    let upSince: number | undefined;
    let failure: KubeError | undefined;
    try {
      await this.#stream(resumedFrom, () => {
        upSince = platform.monotonicMs();
        this.#connected(resumedFrom !== undefined);
      });
    } catch (error) {
      if (error instanceof CallbackError) throw error;
      failure = networkError(error, this.#doing(), "the API server");
    }
    const livedMs = upSince === undefined ? 0 : platform.monotonicMs() - upSince;
    if (livedMs >= stableMs) this.#backoff.reset();
    if (failure?.code === "Gone" && resumedFrom !== undefined) {
      this.#resourceVersion = undefined;
      return undefined;
    }
    if (failure?.code === "Unauthorized" && !this.#refreshed) return this.#refresh();
    if (failure !== undefined) return failure;
    // Ended in order. A server that ends every stream at once would otherwise be asked in a tight loop.
    this.#shortStreams = livedMs < tooShortMs ? this.#shortStreams + 1 : 0;
    if (this.#shortStreams < 2) return undefined;
    return new KubeError(
      "Unreachable",
      `Cannot ${this.#doing()}: the server ends the stream as soon as it begins.`,
    );
  }

  async #stream(resourceVersion: string | undefined, onConnected: () => void): Promise<void> {
    const { platform } = this.#client;
    const session = await this.#cancellation.race(this.#client.session());
    const spread = Math.floor(platform.random() * (maxTimeoutSeconds - minTimeoutSeconds + 1));
    const need = rbacRuleFor("GET", withQuery(this.#request.path, this.#request.query), true);
    await readStream({
      session,
      platform,
      cancellation: this.#cancellation,
      doing: this.#doing(),
      idleMs: this.#request.idleMs,
      path: withQuery(this.#request.path, {
        ...this.#request.query,
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: String(minTimeoutSeconds + spread),
        resourceVersion,
      }),
      onConnected,
      onLine: (line) => this.#line(line),
      toError: (answer) => errorFromAnswer(answer, need, platform.now),
    });
  }

  #line(line: unknown): KubeError | undefined {
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
        `Cannot ${this.#doing()}: a line of the stream is not a watch event.`,
      );
    }
    if (type !== "BOOKMARK") this.#request.onEvent({ type, object } as WatchEvent<T>);
    // Only what the caller has seen counts as seen.
    this.#resourceVersion = version;
    return undefined;
  }

  #connected(resumed: boolean): void {
    const isSeamless = this.#state === "up" && resumed;
    this.#state = "up";
    this.#reported = undefined;
    this.#refreshed = false;
    if (!isSeamless) this.#request.onUp({ resumed });
  }

  #report(error: KubeError): void {
    const isNews = this.#state !== "down" || (needsPerson.has(error.code) && error.code !== this.#reported);
    this.#state = "down";
    if (!isNews) return;
    this.#reported = error.code;
    try {
      this.#request.onDown(error);
    } catch (thrown) {
      throw new CallbackError("a callback of the watch threw", { cause: thrown });
    }
  }

  async #refresh(): Promise<KubeError | undefined> {
    this.#refreshed = true;
    try {
      const session = await this.#cancellation.race(this.#client.session());
      await this.#cancellation.race(session.refresh());
      return undefined;
    } catch (error) {
      return networkError(error, this.#doing(), "the API server");
    }
  }

  async #pause(error: KubeError): Promise<void> {
    const patient = error.code === "Unauthorized" || error.code === "Forbidden";
    const delayMs = Math.max(
      this.#backoff.next(patient ? maxPatientDelayMs : maxDelayMs),
      Math.min(error.retryAfterMs ?? 0, maxPatientDelayMs),
    );
    let cancelTimer = (): void => {};
    try {
      await this.#cancellation.race(
        new Promise<void>((resolve) => {
          cancelTimer = this.#client.platform.setTimer(resolve, delayMs);
        }),
      );
    } finally {
      cancelTimer();
    }
  }

  #doing(): string {
    return describeNeed(rbacRuleFor("GET", withQuery(this.#request.path, this.#request.query), true));
  }
}
