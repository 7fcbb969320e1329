/** The stream of one watch over HTTP: in order, with bookmarks, and 410 if the server no longer has the history. */
import type { WatchLine } from "./api.ts";
import { type NetworkParts, type SimulatedRequest, SimulatedResponse, systemError } from "./messages.ts";

const bookmarkMs = 60_000;

export class WatchStream {
  readonly #parts: NetworkParts;
  readonly #request: SimulatedRequest;
  readonly #response = new SimulatedResponse({ status: 200, headers: {} });
  readonly #startRevision: bigint | undefined;
  #unsubscribe = (): void => {};
  #delayed: WatchLine[] = [];
  #lastDeliveryMs: number;
  #hasEnded = false;
  #hasResponded = false;

  constructor(parts: NetworkParts, request: SimulatedRequest) {
    this.#parts = parts;
    this.#request = request;
    this.#lastDeliveryMs = parts.scheduler.nowMs;
    const version = new URLSearchParams(request.outgoing.path.split("?")[1]).get("resourceVersion");
    this.#startRevision = version === null ? undefined : BigInt(version);
  }

  open(): void {
    const { api, link, scheduler, random } = this.#parts;
    if (link.answersCut) return;
    if (link.watchDropsEvents) api.forgetHistory();
    this.#deliver(() => {
      this.#hasResponded = true;
      this.#request.emit("response", this.#response);
    });
    const lines = this.#startRevision === undefined ? api.current() : api.since(this.#startRevision);
    if (lines === undefined) {
      const object = JSON.parse(api.status(410, "Expired").body) as object;
      this.#deliver(() => this.#write({ type: "ERROR", object }));
      return;
    }
    const unsubscribe = api.subscribe((line) => {
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

  #publish(line: WatchLine): void {
    const { link } = this.#parts;
    if (this.#hasEnded || link.watchSilent) return;
    if (link.watchStalled || link.isCut) this.#delayed.push(line);
    else if (link.watchDropsEvents) this.#break();
    else {
      this.#deliver(() => {
        const { type, object, shows } = line;
        link.saw(shows, line.revision);
        this.#write({ type, object });
      });
    }
  }

  #bookmark(): void {
    if (this.#hasEnded) return;
    const { api, link, scheduler } = this.#parts;
    const resourceVersion = String(api.server.revision);
    if (!link.watchSilent && !link.watchStalled && !link.isCut && this.#delayed.length === 0)
      this.#deliver(() => this.#write({ type: "BOOKMARK", object: { metadata: { resourceVersion } } }));
    scheduler.after(bookmarkMs, () => this.#bookmark());
  }

  #linkChanged(): void {
    const { api, link, scheduler, random } = this.#parts;
    if (api.server.isDown) this.#break();
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
    this.#response.emit("data", bytes.subarray(middle));
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

  /** Everything that the server sends arrives in order. */
  #deliver(event: () => void): void {
    const { scheduler, link, defer } = this.#parts;
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, scheduler.nowMs + link.latencyMs());
    scheduler.at(this.#lastDeliveryMs, () =>
      defer(() => {
        if (!this.#hasEnded && !this.#request.isDestroyed) event();
      }),
    );
  }

  #close(): void {
    this.#hasEnded = true;
    this.#unsubscribe();
  }
}
