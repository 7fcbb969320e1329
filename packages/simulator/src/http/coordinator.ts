/**
 * The controller of an API server that chooses the leader (KEP-4355). It pings candidates that it has not heard of, names one that
 * has answered when nobody holds the lock, and now and then prefers another one. The real one chooses by version; this one chooses
 * at random, so a history may have any choice that the real one can make, and any change of its mind.
 */
import { microTime } from "@tenure/core";
import { serverMs } from "../machine-clock.ts";
import type { Random } from "../random.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Annotations, Server } from "../server.ts";
import type { ApiObject, Collection } from "./collection.ts";
import { preferredHolder, strategy } from "./objects.ts";

export interface CoordinatorParts {
  readonly server: Server;
  /** The LeaseCandidates. */
  readonly candidates: Collection;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** How long a candidate may take to answer, and how old an answer may be. */
const answerMs = 5_000;
/** The lease of a leader that was named, until it renews. */
const namedLeaseSeconds = 5;

export class Coordinator {
  readonly #parts: CoordinatorParts;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
    this.#lookLater();
  }

  #lookLater(): void {
    const { scheduler, random, server } = this.#parts;
    scheduler.after(random.between(200, answerMs), () => {
      if (!server.isDown) this.#look(serverMs(scheduler.nowMs));
      this.#lookLater();
    });
  }

  #look(nowMs: number): void {
    const { server, candidates, random } = this.#parts;
    const isFree = this.#isFree(nowMs);
    if (isFree || random.chance(0.2)) this.#ping(nowMs);
    const alive = candidates.objects.filter((object) => timeOf(object, "renewTime") + answerMs > nowMs);
    if (alive.length === 0) return;
    const { name } = random.pick(alive).metadata;
    if (isFree) this.#name(name, nowMs);
    else if (random.chance(0.15)) server.annotate({ [preferredHolder]: name });
    // Somebody deletes a LeaseCandidate.
    else if (random.chance(0.05)) candidates.delete(name);
  }

  #name(holderIdentity: string, nowMs: number): void {
    const { server } = this.#parts;
    const { record, object } = server.lock ?? {};
    const { [preferredHolder]: _, ...annotations } = object?.annotations ?? {};
    const named = {
      holderIdentity,
      leaseDurationSeconds: namedLeaseSeconds,
      acquireTime: undefined,
      renewTime: microTime(nowMs, 0),
      leaseTransitions: record?.leaseTransitions ?? 0,
    };
    server.nameHolder(named, { ...annotations, [strategy]: "OldestEmulationVersion" } as Annotations);
  }

  #isFree(nowMs: number): boolean {
    const { record } = this.#parts.server.lock ?? {};
    if (!record || record.holderIdentity === "") return true;
    const expiresMs = Date.parse(record.renewTime ?? "") + (record.leaseDurationSeconds ?? 0) * 1_000;
    return !(expiresMs > nowMs);
  }

  #ping(nowMs: number): void {
    const { candidates } = this.#parts;
    for (const object of candidates.objects) {
      const isHeardOf = timeOf(object, "renewTime") + answerMs > nowMs;
      const isAsked = timeOf(object, "pingTime") + answerMs > nowMs;
      if (isHeardOf || isAsked) continue;
      candidates.put({ ...object, spec: { ...object.spec, pingTime: microTime(nowMs, 0) } });
    }
  }
}

/** NaN if the object does not have it. */
function timeOf({ spec }: ApiObject, field: string): number {
  return Date.parse(String(spec?.[field]));
}
