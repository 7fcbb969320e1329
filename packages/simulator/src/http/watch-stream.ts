/** The stream of one watch over HTTP: in order, with bookmarks, and 410 if the server no longer has the history. */
import type { Changes, Endpoint, WatchLine } from "./endpoint.ts";
import { type NetworkParts, type SimulatedRequest, SimulatedResponse, systemError } from "./messages.ts";

const bookmarkMs = 60_000;

export class WatchStream {
  readonly #parts: NetworkParts;
  readonly #endpoint: Endpoint;
  readonly #changes: Changes;
  readonly #request: SimulatedRequest;
  /** The connection breaks in the middle of a line. */
  readonly #endsInLine: boolean;
  readonly #response = new SimulatedResponse({ status: 200, headers: {} });
  readonly #startRevision: bigint | undefined;
  #unsubscribe = (): void => {};
  #delayed: WatchLine[] = [];
  /** What the process has not read yet. */
  readonly #arrived: (() => void)[] = [];
  #lastDeliveryMs: number;
  #hasEnded = false;
  #hasResponded = false;

  constructor(
    parts: NetworkParts,
    endpoint: Endpoint,
    request: SimulatedRequest,
    { endsInLine }: { readonly endsInLine: boolean },
  ) {
    this.#parts = parts;
    this.#endpoint = endpoint;
    this.#changes = endpoint.changes(request.outgoing.path);
    this.#endsInLine = endsInLine;
    this.#request = request;
    this.#lastDeliveryMs = parts.scheduler.nowMs;
    const version = new URLSearchParams(request.outgoing.path.split("?")[1]).get("resourceVersion");
    this.#startRevision = version === null ? undefined : BigInt(version);
  }

  open(): void {
    const { link, scheduler, random } = this.#parts;
    const changes = this.#changes;
    if (link.answersCut) return;
    if (link.watchDropsEvents) changes.forgetHistory();
    const refusal = this.#refusal();
    this.#deliver(() => {
      this.#hasResponded = true;
      this.#request.emit("response", this.#response);
    });
    if (refusal) {
      this.#deliver(() => this.#write({ type: "ERROR", object: refusal }));
      return;
    }
    const lines =
      this.#startRevision === undefined ? changes.current() : (changes.since(this.#startRevision) ?? []);
    const unsubscribe = changes.subscribe((line) => {
      if (line === "restored") this.#break();
      else if (this.#startRevision === undefined || line.revision > this.#startRevision) this.#publish(line);
    });
    const unlink = link.add(() => this.#linkChanged());
    this.#unsubscribe = () => {
      unsubscribe();
      unlink();
    };
    this.#request.onDestroy = () => this.#close();
    for (const line of lines) this.#publish(line);
    scheduler.after(bookmarkMs, () => this.#bookmark());
    // The server ends every watch at some time.
    scheduler.after(random.between(20_000, 400_000), () => this.#end());
  }

  /** The Status with which the server ends a watch from a version that it no longer has, or does not have yet. */
  #refusal(): object | undefined {
    const start = this.#startRevision;
    if (start === undefined) return undefined;
    if (this.#changes.since(start) === undefined)
      return JSON.parse(this.#endpoint.status(410, "Expired").body) as object;
    // An API server that serves from its cache says so. Others wait until their store gets there.
    const isInFuture = start > this.#parts.api.store.revision;
    if (!isInFuture || this.#parts.random.chance(0.5)) return undefined;
    const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
    return JSON.parse(this.#endpoint.status(504, "Timeout", { causes }).body) as object;
  }

  #publish(line: WatchLine): void {
    const { link } = this.#parts;
    if (this.#hasEnded || link.watchSilent) return;
    if (link.watchStalled || link.isCut) this.#delayed.push(line);
    else if (link.watchDropsEvents) this.#break();
    else {
      this.#deliver(() => {
        const { type, object } = line;
        this.#write({ type, object });
      });
    }
  }

  #bookmark(): void {
    if (this.#hasEnded) return;
    const { api, link, scheduler } = this.#parts;
    const resourceVersion = String(api.store.revision);
    if (!link.watchSilent && !link.watchStalled && !link.isCut && this.#delayed.length === 0)
      this.#deliver(() => this.#write({ type: "BOOKMARK", object: { metadata: { resourceVersion } } }));
    scheduler.after(bookmarkMs, () => this.#bookmark());
  }

  #linkChanged(): void {
    const { api, link, scheduler, random } = this.#parts;
    if (api.store.isDown) this.#break();
    else if (link.isCut) {
      // A broken connection is noticed some time later, unless the link recovers first.
      scheduler.after(random.between(100, 20_000), () => {
        if (link.isCut) this.#break();
      });
    } else if (!link.watchStalled) {
      if (link.watchDropsEvents || (this.#delayed.length > 0 && random.chance(0.5))) this.#break();
      const delayed = this.#delayed;
      this.#delayed = [];
      for (const line of delayed) this.#publish(line);
    }
  }

  #write(line: object): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    const middle = this.#parts.random.integer(0, bytes.length);
    this.#response.emit("data", bytes.subarray(0, middle));
    if (this.#endsInLine) this.#break();
    else this.#response.emit("data", bytes.subarray(middle));
  }

  #end(): void {
    if (this.#hasEnded || this.#parts.link.isCut || this.#delayed.length > 0) return;
    this.#deliver(() => {
      this.#close();
      this.#response.emit("end");
      this.#response.emit("close");
    });
  }

  #break(): void {
    if (this.#hasEnded) return;
    this.#close();
    this.#parts.defer(() => {
      if (this.#request.isDestroyed) return;
      if (!this.#hasResponded) this.#request.emit("error", systemError("ECONNRESET"));
      else if (this.#parts.random.chance(0.5)) this.#response.emit("error", systemError("ECONNRESET"));
      this.#response.emit("close");
    });
  }

  /** Everything that the server sends arrives in order, also at a process that was frozen meanwhile. */
  #deliver(event: () => void): void {
    const { scheduler, link, defer } = this.#parts;
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, scheduler.nowMs + link.latencyMs());
    scheduler.at(this.#lastDeliveryMs, () => {
      this.#arrived.push(event);
      defer(() => {
        const next = this.#arrived.shift();
        if (!this.#hasEnded && !this.#request.isDestroyed) next?.();
      });
    });
  }

  #close(): void {
    this.#hasEnded = true;
    this.#unsubscribe();
  }
}
