/**
 * Deletes objects whose last owner is deleted. It implements the propagation policies of Kubernetes: Background deletes
 * the dependents after the owner, Foreground before it, and Orphan keeps them without the owner reference.
 */
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { foregroundFinalizer, orphanFinalizer } from "../registry/delete.ts";
import type { Store } from "../store/store.ts";
import type { Decision, StoreEvent } from "../store/types.ts";

export class GarbageCollector {
  readonly #store: Store;
  /** Keys of the dependents, by the uid of the owner. */
  readonly #dependents = new Map<string, Set<string>>();
  /** The key of each existing object, by its uid. */
  readonly #keyByUid = new Map<string, string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Updates the index. Must be called for every event, in order. */
  index({ type, object, previous }: StoreEvent): void {
    const { key, value } = object;
    for (const { uid } of previous?.value.metadata.ownerReferences ?? []) this.#forget(uid, key);
    const { uid, ownerReferences = [] } = value.metadata;
    if (type === "DELETED") {
      for (const owner of ownerReferences) this.#forget(owner.uid, key);
      if (uid) this.#keyByUid.delete(uid);
      return;
    }
    if (uid) this.#keyByUid.set(uid, key);
    for (const owner of ownerReferences) {
      const keys = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, keys.add(key));
    }
  }

  /** Deletes or releases the objects that an event affects. */
  async collect({ type, object }: StoreEvent): Promise<void> {
    const { metadata } = object.value;
    if (type === "DELETED") {
      for (const key of this.#dependentsOf(metadata.uid)) await this.#deleteIfOrphan(key);
      for (const owner of metadata.ownerReferences ?? []) await this.#finishForeground(owner.uid);
      return;
    }
    if (metadata.deletionTimestamp && metadata.finalizers?.includes(orphanFinalizer))
      await this.#orphan(object.key, metadata.uid);
    else if (metadata.deletionTimestamp && metadata.finalizers?.includes(foregroundFinalizer)) {
      for (const key of this.#dependentsOf(metadata.uid)) {
        await this.#store.commit(
          key,
          (current) => current && deleteOrMark(current.value, metadata.deletionTimestamp as string),
        );
      }
      await this.#finishForeground(metadata.uid as string);
    } else if (metadata.ownerReferences?.length) await this.#deleteIfOrphan(object.key);
  }

  #dependentsOf(uid: string | undefined): string[] {
    return [...(this.#dependents.get(uid ?? "") ?? [])];
  }

  #forget(uid: string, key: string): void {
    const keys = this.#dependents.get(uid);
    keys?.delete(key);
    if (keys?.size === 0) this.#dependents.delete(uid);
  }

  async #deleteIfOrphan(key: string): Promise<void> {
    await this.#store.commit(key, (current) => {
      const owners = current?.value.metadata.ownerReferences ?? [];
      if (!current || owners.length === 0 || owners.some(({ uid }) => this.#keyByUid.has(uid)))
        return undefined;
      return deleteOrMark(current.value, current.value.metadata.creationTimestamp as string);
    });
  }

  async #finishForeground(uid: string): Promise<void> {
    const key = this.#keyByUid.get(uid);
    if (!key) return;
    const blocking = this.#dependentsOf(uid).some((dependent) =>
      this.#store
        .get(dependent)
        ?.value.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion),
    );
    if (blocking) return;
    await this.#store.commit(
      key,
      (current) => current && withoutFinalizer(current.value, foregroundFinalizer),
    );
  }

  async #orphan(key: string, uid: string | undefined): Promise<void> {
    for (const dependent of this.#dependentsOf(uid)) {
      await this.#store.commit(dependent, (current) => {
        if (!current) return undefined;
        const left = (current.value.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
        return withMetadata(current.value, { ownerReferences: left.length > 0 ? left : undefined } as never);
      });
    }
    await this.#store.commit(key, (current) => current && withoutFinalizer(current.value, orphanFinalizer));
  }
}

/** Deletes an object, or marks it as deleted if it has finalizers. */
export function deleteOrMark(object: ApiObject, time: string): Decision {
  if (!object.metadata.finalizers?.length) return "delete";
  if (object.metadata.deletionTimestamp) return undefined;
  return withMetadata(object, { deletionTimestamp: time, deletionGracePeriodSeconds: 0 });
}

function withoutFinalizer(object: ApiObject, name: string): Decision {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  if (!deletionTimestamp || !finalizers.includes(name)) return undefined;
  const left = finalizers.filter((finalizer) => finalizer !== name);
  return left.length > 0 ? withMetadata(object, { finalizers: left }) : "delete";
}
