/** An API server with one lock object and compare-and-swap. */

import { type LeaderRecord, type LockView, type Orders, sameRecord } from "../record.ts";
import type { Answer } from "../types.ts";
import { accepted } from "./records.ts";
import type { Accept, Request, Write } from "./test-candidate.ts";

export type Change =
  | { readonly kind: "written"; readonly view: LockView }
  | { readonly kind: "deleted"; readonly revision: bigint };

export class LockServer {
  lock: LockView | undefined;
  /** All changes of the lock, for a watch to deliver. */
  readonly changes: Change[] = [];
  #revision: bigint;
  #uids = 0;

  constructor(lock?: LockView) {
    this.lock = lock;
    this.#revision = lock?.revision ?? 0n;
  }

  answer = (request: Request): Answer => {
    if (request.type === "write") return this.#write(request);
    if (request.type === "accept") return this.#accept(request);
    return this.lock ? { kind: "found", view: this.lock } : { kind: "absent" };
  };

  /** Writes the record as another client, whatever the current version is. */
  put(record: LeaderRecord): LockView {
    // A write that changes nothing keeps its version, as on a real API server.
    if (this.lock && sameRecord(this.lock.record, record)) return this.lock;
    if (!this.lock) this.#uids += 1;
    return this.#store(this.lock?.uid ?? `uid-${this.#uids}`, record);
  }

  /** Changes the annotations: an operator's orders, or any other. */
  annotate(orders = this.lock?.orders): void {
    if (this.lock) this.#store(this.lock.uid, this.lock.record, orders);
  }

  delete(): void {
    if (!this.lock) return;
    this.lock = undefined;
    this.#revision += 1n;
    this.changes.push({ kind: "deleted", revision: this.#revision });
  }

  #write({ over, record }: Write): Answer {
    if (over === undefined)
      return this.lock ? { kind: "conflict" } : { kind: "found", view: this.put(record) };
    if (!this.lock) return { kind: "absent" };
    if (this.lock.version !== over.version) return { kind: "conflict" };
    return { kind: "found", view: this.put(record) };
  }

  #accept({ over }: Accept): Answer {
    if (!this.lock) return { kind: "absent" };
    if (this.lock.version !== over.version) return { kind: "conflict" };
    return { kind: "found", view: this.#store(over.uid, over.record, accepted(over.orders)) };
  }

  #store(uid: string, record: LeaderRecord, orders: Orders = this.lock?.orders ?? {}): LockView {
    this.#revision += 1n;
    this.lock = { uid, version: String(this.#revision), revision: this.#revision, record, orders };
    this.changes.push({ kind: "written", view: this.lock });
    return this.lock;
  }
}
