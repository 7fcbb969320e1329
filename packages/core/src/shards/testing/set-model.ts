/**
 * A slow and simple model of the state machine of a set. It keeps the whole history of events and effects and no other state, and
 * judges every effect by scanning that history from the beginning. The state machine may be stricter, but never less strict.
 */
import { isRelease, sameRecord } from "../../record.ts";
import { type Incarnation, type MapMember, ownerOf, type ShardMap, sameIncarnation } from "../shard-map.ts";
import type { LeaseView, MapView, SetEffect, SetEvent } from "../types.ts";

interface Entry {
  readonly atMs: number;
  readonly event?: SetEvent;
  readonly effect?: SetEffect;
}

/** What the history says about a lease at one moment: its content, or that it is gone. */
interface Sighting {
  readonly atMs: number;
  readonly view: LeaseView | undefined;
}

export class SetModel {
  readonly #history: Entry[] = [];

  /** Records one step and returns its violations. */
  step(event: SetEvent, effects: readonly SetEffect[], atMs: number): string[] {
    this.#history.push({ atMs, event });
    const violations: string[] = [];
    for (const effect of effects) {
      const objection = this.#objection(effect, atMs);
      if (objection) violations.push(`${effect.type} at ${atMs}: ${objection}`);
      this.#history.push({ atMs, effect });
    }
    const forbidden = [...this.running()].filter(([shard]) => !this.#isOurs(shard));
    for (const [shard] of forbidden)
      violations.push(`the work of ${shard} goes on at ${atMs} without being told to stop`);
    return violations;
  }

  /** The shards whose work runs and was not told that it is lost, with their tokens. */
  running(): ReadonlyMap<number, bigint> {
    const running = new Map<number, bigint>();
    for (const { event, effect } of this.#history) {
      if (effect?.type === "shard-started") running.set(effect.shard, effect.token);
      if (effect?.type === "shard-lost") running.delete(effect.shard);
      if (event?.type === "work-stopped" && running.get(event.shard) === event.token)
        running.delete(event.shard);
    }
    return running;
  }

  /** The shards whose work has not stopped. */
  unfinished(): ReadonlyMap<number, bigint> {
    const unfinished = new Map<number, bigint>();
    for (const { event, effect } of this.#history) {
      if (effect?.type === "shard-started") unfinished.set(effect.shard, effect.token);
      if (event?.type === "work-stopped" && unfinished.get(event.shard) === event.token)
        unfinished.delete(event.shard);
    }
    return unfinished;
  }

  #objection(effect: SetEffect, atMs: number): string | undefined {
    switch (effect.type) {
      case "write":
        return effect.over
          ? this.#objectionToWrite(effect.over.map, effect.map, atMs)
          : this.#objectionToCreate(effect.map);
      case "fence":
        return this.#isExpired(effect.over, atMs) ? undefined : "the lease has not expired";
      case "shard-started":
        return this.#objectionToStart(effect.shard, effect.token);
      default:
        return undefined;
    }
  }

  #objectionToCreate(map: ShardMap): string | undefined {
    if (!map.forming || map.members.length > 0) return "a new map must be empty";
    return this.unfinished().size > 0 ? "own work still runs" : undefined;
  }

  #objectionToWrite(before: ShardMap, after: ShardMap, atMs: number): string | undefined {
    const me = this.#incarnation();
    if (!me) return "this process is not a member";
    const isMe = (other: Incarnation) => sameIncarnation(other, me);
    for (const member of [...before.members, ...before.waiting]) {
      if (isMe(member)) continue;
      const same = (other: Incarnation) => sameIncarnation(other, member);
      const stays = after.members.find(same) ?? after.waiting.find(same);
      if (!stays && !this.#isDead(member, atMs)) return `${member.identity} is not dead`;
      const kept = new Set((stays as MapMember | undefined)?.shards ?? []);
      const lost = ((member as MapMember).shards ?? []).filter((shard) => !kept.has(shard));
      if (stays && lost.length > 0) return `${member.identity} lives and loses ${lost}`;
    }
    for (const shard of before.members.find(isMe)?.shards ?? []) {
      const owner = ownerOf(after, shard);
      if ((!owner || !isMe(owner) || after.count !== before.count) && this.unfinished().has(shard)) {
        return `the work of ${shard} runs`;
      }
    }
    for (const member of after.members) {
      const isNew = !before.members.some((other) => sameIncarnation(other, member));
      if (isNew && !isMe(member)) return `${member.identity} did not join itself`;
      if (isNew && this.unfinished().size > 0) return "joins while old work runs";
    }
    if (before.forming && (after.members.length > 0 || after.forming))
      return "a forming map assigns something";
    const gained = after.members.flatMap(({ shards }) => shards).filter((shard) => !ownerOf(before, shard));
    if (after.waiting.length > 0 && gained.length > 0)
      return "assigns shards while members of an earlier map may own them";
    return undefined;
  }

  #objectionToStart(shard: number, token: bigint): string | undefined {
    if (!this.#isOurs(shard)) return "the shard is not ours";
    if (this.unfinished().has(shard)) return "its work still runs";
    if (token !== this.#latestMap()?.revision) return "the token is not the revision of the map";
    const earlier = this.#history.some(
      ({ effect }) => effect?.type === "shard-started" && effect.shard === shard && effect.token >= token,
    );
    return earlier ? "the token does not grow" : undefined;
  }

  #isOurs(shard: number): boolean {
    const me = this.#incarnation();
    const owner = ownerOf(this.#latestMap()?.map ?? noMap, shard);
    return me !== undefined && owner !== undefined && sameIncarnation(owner, me);
  }

  #incarnation(): Incarnation | undefined {
    let me: Incarnation | undefined;
    for (const { event } of this.#history) {
      if (event?.type === "joined") me = event.me;
      if (event?.type === "lease-lost") me = undefined;
    }
    return me;
  }

  /** The newest map that was seen; undefined if the newest news is that there is none. */
  #latestMap(): MapView | undefined {
    let latest: MapView | undefined;
    let revision = -1n;
    const see = (view: MapView | undefined, at: bigint) => {
      if (at < revision) return;
      latest = view;
      revision = at;
    };
    for (const { event } of this.#history) {
      if (event?.type === "map-observed") see(event.view, event.view.revision);
      if (event?.type === "map-deleted") see(undefined, event.revision);
      if (event?.type !== "answer") continue;
      const { answer } = event;
      if (answer.kind === "map") see(answer.view, answer.view.revision);
      if (answer.kind === "listed" && this.#wasAwaited(event.id)) {
        see(answer.view.map, answer.view.map?.revision ?? answer.view.revision);
      }
    }
    return latest;
  }

  /** Whether the answer to this request was still awaited: it had not timed out. */
  #wasAwaited(id: number): boolean {
    return !this.#history.some(({ effect }) => effect?.type === "cancel" && effect.id === id);
  }

  #sightings(name: string): Sighting[] {
    return this.#history.flatMap(({ atMs, event }): Sighting[] => {
      if (event?.type === "lease-observed" && event.view.name === name) return [{ atMs, view: event.view }];
      if (event?.type === "lease-deleted" && event.name === name) return [{ atMs, view: undefined }];
      if (event?.type !== "answer") return [];
      if (event.answer.kind === "lease" && event.answer.view.name === name)
        return [{ atMs, view: event.answer.view }];
      if (event.answer.kind !== "listed") return [];
      return [{ atMs, view: event.answer.view.leases.find((lease) => lease.name === name) }];
    });
  }

  /** Whether the history proves that the incarnation can neither work nor renew. */
  #isDead(incarnation: Incarnation, atMs: number): boolean {
    const leaseMs = incarnation.leaseSeconds * 1_000;
    return this.#sightings(incarnation.lease).some((sighting) => {
      const { view } = sighting;
      const isGone = view?.uid !== incarnation.uid;
      if (isGone) return atMs - sighting.atMs >= leaseMs;
      if (view.record.acquireTime === incarnation.acquired) return false;
      return isRelease(view.record) || view.record.holderIdentity !== "" || atMs - sighting.atMs >= leaseMs;
    });
  }

  #isExpired(lease: LeaseView, atMs: number): boolean {
    const first = this.#sightings(lease.name).find(
      ({ view }) => view?.uid === lease.uid && sameRecord(view.record, lease.record),
    );
    return first !== undefined && atMs - first.atMs >= (lease.record.leaseDurationSeconds ?? 0) * 1_000;
  }
}

const noMap: ShardMap = { count: 1, forming: false, waiting: [], members: [], write: "" };
