/** The stream of one watch of the key. It starts at the present of its member, which may lag behind the others. */
import { EventEmitter } from "node:events";
import { type ServiceError, status } from "@grpc/grpc-js";
import { type WatchResponse, watch } from "@tenure/etcd/internal";
import type { EtcdCluster, EtcdEvent } from "./etcd-cluster.ts";
import { EventQueue } from "./event-queue.ts";
import { grpcError } from "./grpc-error.ts";
import type { ClientParts } from "./store-parts.ts";

interface Coding {
  readonly encode: (request: unknown) => Buffer;
  readonly decode: (bytes: Buffer) => unknown;
  /** Why the member rejects the stream. */
  readonly error: ServiceError | undefined;
}

const noLeader = grpcError(status.UNAVAILABLE, "etcdserver: no leader");

export class EtcdStream extends EventEmitter {
  readonly #cluster: EtcdCluster;
  readonly #parts: ClientParts;
  readonly #coding: Coding;
  readonly #queue: EventQueue;
  #unsubscribe = (): void => {};
  #hasEnded = false;

  constructor(cluster: EtcdCluster, parts: ClientParts, coding: Coding) {
    super();
    this.#cluster = cluster;
    this.#parts = parts;
    this.#coding = coding;
    this.#queue = new EventQueue(parts);
  }

  write(request: unknown): void {
    const { create } = watch.decodeRequest(this.#coding.encode(request));
    const { link, scheduler } = this.#parts;
    if (create && !link.requestsCut) scheduler.after(link.latencyMs(), () => this.#open());
  }

  cancel(): void {
    this.#close();
  }

  #open(): void {
    const { link, scheduler, random } = this.#parts;
    if (this.#hasEnded || link.answersCut) return;
    const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
    const hasNoLeader = this.#cluster.server.isDown || (error !== undefined && error !== "conflict");
    const rejected = this.#coding.error ?? (hasNoLeader ? noLeader : undefined);
    if (rejected) {
      this.#fail(rejected);
      return;
    }
    this.#respond({ created: true });
    const unsubscribe = this.#cluster.subscribe((event) => {
      if (event === "restored") this.#break();
      else this.#publish(event);
    });
    const unlink = link.add(() => this.#linkChanged());
    this.#unsubscribe = () => {
      unsubscribe();
      unlink();
    };
    if (random.chance(0.3)) for (const event of this.#cluster.recent(random.next())) this.#publish(event);
    // A member restarts at some time, or loses its leader and ends all watches.
    scheduler.after(random.between(20_000, 400_000), () => this.#end());
  }

  #publish(event: EtcdEvent): void {
    const { link } = this.#parts;
    if (this.#hasEnded || link.watchSilent) return;
    if (link.watchDropsEvents) this.#break();
    else this.#respond({ events: [event] }, link.watchStalled || link.isCut);
  }

  #respond(facts: Partial<WatchResponse>, isStalled = false): void {
    const response = { header: this.#cluster.header(), ...facts } as WatchResponse;
    const bytes = watch.encodeResponse(response);
    this.#queue.send(() => this.emit("data", this.#coding.decode(bytes)), isStalled);
  }

  #linkChanged(): void {
    const { link, scheduler, random } = this.#parts;
    if (this.#cluster.server.isDown) this.#break();
    else if (link.isCut) {
      // A broken connection is noticed some time later, unless the link recovers first.
      scheduler.after(random.between(100, 20_000), () => {
        if (link.isCut) this.#break();
      });
    } else if (!link.watchStalled) {
      if (link.watchDropsEvents || (!this.#queue.isEmpty && random.chance(0.5))) this.#break();
      else this.#queue.release();
    }
  }

  #end(): void {
    if (this.#hasEnded || this.#parts.link.isCut) return;
    const isCanceled = this.#parts.random.chance(0.5);
    if (isCanceled) this.#respond({ canceled: true, cancelReason: "etcdserver: no leader" });
    else this.#queue.send(() => this.emit("end"));
  }

  #break(): void {
    if (!this.#hasEnded) this.#fail(grpcError(status.UNAVAILABLE, "read ECONNRESET"));
  }

  #fail(error: ServiceError): void {
    this.#close();
    this.#parts.defer(() => this.emit("error", error));
  }

  #close(): void {
    this.#hasEnded = true;
    this.#queue.close();
    this.#unsubscribe();
  }
}
