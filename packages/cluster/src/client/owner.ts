/** Which object controls which: controller references, and which objects to adopt or to release. */
import type { KubeObject, LabelSelector, OwnerReference } from "./objects.ts";
import { matchesSelector } from "./selector.ts";

/** The reference to an object that controls another. */
export function controllerReference(
  { apiVersion, kind }: { apiVersion: string; kind: string },
  { metadata }: KubeObject,
): OwnerReference {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The reference to the object's controller. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

export function isControlledBy(object: KubeObject, owner: KubeObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

export interface Claims<T> {
  /** Controlled by the owner already. */
  readonly owned: T[];
  /** Match the selector and have no controller. */
  readonly adopt: T[];
  /** Controlled by the owner, but do not match the selector any more. */
  readonly release: T[];
}

/** Which objects of the owner's namespace belong to it. An owner that is being deleted adopts and releases nothing. */
export function claimsOf<T extends KubeObject>(
  owner: KubeObject,
  selector: LabelSelector | undefined,
  objects: readonly T[],
): Claims<T> {
  const claims: Claims<T> = { owned: [], adopt: [], release: [] };
  for (const object of objects) {
    if (object.metadata.namespace !== owner.metadata.namespace) continue;
    const controller = controllerOf(object);
    const matches = matchesSelector(selector, object.metadata.labels);
    const isChanging = owner.metadata.deletionTimestamp === undefined;
    if (controller?.uid === owner.metadata.uid) {
      if (matches) claims.owned.push(object);
      else if (isChanging) claims.release.push(object);
    } else if (!controller && matches && isChanging && object.metadata.deletionTimestamp === undefined) {
      claims.adopt.push(object);
    }
  }
  return claims;
}

/** A strategic merge patch that adds the owner. It fails if the object was replaced by another of the same name. */
export function adoptionPatch(owner: OwnerReference, { metadata }: KubeObject): object {
  return { metadata: { ownerReferences: [owner], uid: metadata.uid } };
}

/** A strategic merge patch that removes the owner. */
export function releasePatch(owner: KubeObject, { metadata }: KubeObject): object {
  return {
    metadata: { ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }], uid: metadata.uid },
  };
}
