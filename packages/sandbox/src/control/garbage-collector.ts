/**
 * Deletes objects whose last owner is deleted. It implements the propagation policies of Kubernetes: Background deletes
 * the dependents after the owner, Foreground before it, and Orphan keeps them without the owner reference.
 *
 * It deletes as a client does: a pod on a node gets its grace period. It keeps an object if it cannot know whether an
 * owner exists, because the API does not have the owner's kind.
 */
import { keyOf } from "../objects/kind.ts";
import { kindOf } from "../objects/kinds.ts";
import { type ApiObject, type ObjectMeta, type OwnerReference, withMetadata } from "../objects/object.ts";
import type { Platform } from "../platform.ts";
import {
  decideDeletion,
  foregroundFinalizer,
  orphanFinalizer,
  withoutFinalizer,
} from "../registry/deletion.ts";
import type { Store } from "../store/store.ts";
import type { Decision, StoreEvent } from "../store/types.ts";

export class GarbageCollector {
  readonly #store: Store;
  readonly #platform: Platform;
  /** Keys of the dependents, by the uid of the owner. */
  readonly #dependents = new Map<string, Set<string>>();
  /** The key of each existing object, by its uid. */
  readonly #keyByUid = new Map<string, string>();

  constructor(store: Store, platform: Platform) {
    this.#store = store;
    this.#platform = platform;
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
    else if (isDeletedForeground(metadata)) {
      for (const key of this.#dependentsOf(metadata.uid)) await this.#deleteDependent(key);
      await this.#finishForeground(metadata.uid as string);
    } else if (metadata.ownerReferences?.length) await this.#deleteIfOrphan(object.key);
  }

  /**
   * Deletes an object whose owner waits for it. If the object would wait for a dependent that is itself waiting, they may be in a
   * circle, so the object no longer blocks its owners.
   */
  async #deleteDependent(key: string): Promise<void> {
    await this.#store.commit(key, (current) => {
      if (!current) return undefined;
      const dependents = this.#dependentsOf(current.value.metadata.uid);
      if (dependents.length === 0) return deleteByController(current.value, this.#platform);
      const mayBeCircle = dependents.some((dependent) =>
        isDeletedForeground(this.#store.get(dependent)?.value.metadata),
      );
      if (!mayBeCircle) return deleteByController(current.value, this.#platform, "Foreground");
      const ownerReferences = current.value.metadata.ownerReferences?.map((owner) => ({
        ...owner,
        blockOwnerDeletion: false,
      }));
      const unblocking = withMetadata(current.value, { ownerReferences });
      return deleteByController(unblocking, this.#platform, "Foreground") ?? unblocking;
    });
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
      const { ownerReferences = [], namespace = "" } = current?.value.metadata ?? {};
      if (!current || ownerReferences.length === 0) return undefined;
      if (ownerReferences.some((owner) => this.#mayExist(owner, namespace))) return undefined;
      return deleteByController(current.value, this.#platform);
    });
  }

  /** An owner is in the namespace of its dependent, or in none. */
  #mayExist(owner: OwnerReference, namespace: string): boolean {
    const kind = kindOf(owner);
    if (!kind || (kind.namespaced && namespace === "")) return true;
    const found = this.#store.get(keyOf(kind, namespace, owner.name));
    return found?.value.metadata.uid === owner.uid;
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
        return withMetadata(current.value, { ownerReferences: left.length > 0 ? left : undefined });
      });
    }
    await this.#store.commit(key, (current) => current && withoutFinalizer(current.value, orphanFinalizer));
  }
}

function isDeletedForeground(metadata: ObjectMeta | undefined): boolean {
  return !!metadata?.deletionTimestamp && !!metadata.finalizers?.includes(foregroundFinalizer);
}

/** Deletes an object as a client without further options does. */
export function deleteByController(
  object: ApiObject,
  platform: Platform,
  propagationPolicy?: string,
): Decision {
  const kind = kindOf(object);
  if (!kind) return undefined;
  const options = propagationPolicy ? { propagationPolicy } : {};
  return decideDeletion(kind, object, options, platform.clock.now().wallMs);
}
