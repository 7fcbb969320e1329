/** An API server with the objects of one set of shards: the map and the member leases. Every write is compare-and-swap. */
import {
  type Answer,
  formatShardMap,
  type LeaderRecord,
  type LeaseView,
  type LockView,
  type MapView,
  parseShardMap,
  type SetAnswer,
  type SetEffect,
  type SetEvent,
  type ShardMap,
  sameRecord,
} from "@tenure/core";
import type { SetPlace } from "./participant.ts";

interface Stored {
  readonly uid: string;
  readonly revision: bigint;
  readonly map?: ShardMap;
  readonly record?: LeaderRecord;
}

const mapName = "map";

export class SetServer implements SetPlace {
  /** All changes, in the order in which a watch reports them. */
  readonly changes: SetEvent[] = [];
  readonly onChange = new Set<() => void>();
  readonly #objects = new Map<string, Stored>();
  /** Objects without the label of the set. Lists and watches do not show them. */
  readonly #unlabelled = new Set<string>();
  #revision = 100n;
  #uids = 0;

  get map(): ShardMap | undefined {
    return this.#objects.get(mapName)?.map;
  }

  get leases(): readonly string[] {
    return [...this.#objects.keys()].filter((name) => name !== mapName);
  }

  delete(name: string): void {
    if (!this.#objects.delete(name)) return;
    this.#revision += 1n;
    // Nobody who looks for the label sees that it is deleted.
    if (this.#unlabelled.delete(name)) return;
    const revision = this.#revision;
    this.#changed(
      name === mapName ? { type: "map-deleted", revision } : { type: "lease-deleted", name, revision },
    );
  }

  unlabel(name: string): void {
    const object = this.#objects.get(name);
    if (!object || this.#unlabelled.has(name)) return;
    this.#revision += 1n;
    const revision = this.#revision;
    this.#objects.set(name, { ...object, revision });
    this.#unlabelled.add(name);
    this.#changed(
      name === mapName ? { type: "map-deleted", revision } : { type: "lease-deleted", name, revision },
    );
  }

  perform(effect: SetEffect): SetAnswer {
    switch (effect.type) {
      case "list": {
        const map = this.#unlabelled.has(mapName) ? undefined : this.#mapView();
        return { kind: "listed", view: { revision: this.#revision, map, leases: this.#leaseViews() } };
      }
      case "write":
        return this.#guarded(mapName, effect.over?.revision, () => {
          // Through its text, as in the real object.
          this.#store(mapName, { map: parseShardMap(formatShardMap(effect.map)) });
          return { kind: "map", view: this.#mapView() as MapView };
        });
      case "fence":
        return this.#guarded(effect.over.name, effect.over.revision, () => {
          this.#store(effect.over.name, { record: effect.record });
          return { kind: "lease", view: this.#leaseView(effect.over.name) as LeaseView };
        });
      case "remove":
        return this.#guarded(effect.over.name, effect.over.revision, () => {
          this.delete(effect.over.name);
          return { kind: "removed" };
        });
      default:
        throw new Error(`not a request: ${effect.type}`);
    }
  }

  readLease(name: string): Answer {
    const view = this.#lockView(name);
    return view ? { kind: "found", view } : { kind: "absent" };
  }

  writeLease(name: string, record: LeaderRecord, over: LockView | undefined): Answer {
    const before = this.#objects.get(name);
    if (over === undefined && before) return { kind: "conflict" };
    if (over !== undefined && !before) return { kind: "absent" };
    if (over !== undefined && before?.revision !== over.revision) return { kind: "conflict" };
    // A write that changes nothing keeps its version, as on a real API server.
    if (!before?.record || !sameRecord(before.record, record)) this.#store(name, { record });
    return { kind: "found", view: this.#lockView(name) as LockView };
  }

  #guarded(name: string, over: bigint | undefined, write: () => SetAnswer): SetAnswer {
    const before = this.#objects.get(name);
    if (over === undefined) return before ? this.#findMap(before) : write();
    if (!before) return { kind: "gone" };
    return before.revision === over ? write() : { kind: "conflict" };
  }

  /** A map that exists is read instead of created. If it has lost its label, that is put back. */
  #findMap({ map }: Stored): SetAnswer {
    if (map && this.#unlabelled.has(mapName)) this.#store(mapName, { map });
    return { kind: "map", view: this.#mapView() as MapView };
  }

  #store(name: string, content: { map?: ShardMap; record?: LeaderRecord }): void {
    this.#revision += 1n;
    this.#unlabelled.delete(name);
    const uid = this.#objects.get(name)?.uid ?? `uid-${++this.#uids}`;
    this.#objects.set(name, { uid, revision: this.#revision, ...content });
    this.#changed(
      name === mapName
        ? { type: "map-observed", view: this.#mapView() as MapView }
        : { type: "lease-observed", view: this.#leaseView(name) as LeaseView },
    );
  }

  #changed(event: SetEvent): void {
    this.changes.push(event);
    for (const notify of this.onChange) notify();
  }

  #mapView(): MapView | undefined {
    const stored = this.#objects.get(mapName);
    return stored?.map && { uid: stored.uid, revision: stored.revision, map: stored.map };
  }

  #leaseViews(): LeaseView[] {
    const labelled = this.leases.filter((name) => !this.#unlabelled.has(name));
    return labelled.map((name) => this.#leaseView(name) as LeaseView);
  }

  #leaseView(name: string): LeaseView | undefined {
    const stored = this.#objects.get(name);
    return stored?.record && { name, uid: stored.uid, revision: stored.revision, record: stored.record };
  }

  #lockView(name: string): LockView | undefined {
    const view = this.#leaseView(name);
    return (
      view && { uid: view.uid, version: String(view.revision), revision: view.revision, record: view.record }
    );
  }
}
