/**
 * Decides what a deletion does to an object. It is removed immediately unless something holds it: finalizers, a grace
 * period (pods on a node), or dependents that must be deleted first or orphaned. An object that is held gets a
 * deletionTimestamp and is removed later.
 */
import type { Kind } from "../objects/kind.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { type ApiObject, type ObjectMeta, withMetadata } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Decision } from "../store/types.ts";

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

export interface DeletionOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
}

export function decideDeletion(
  kind: Kind,
  object: ApiObject,
  options: DeletionOptions,
  wallMs: number,
): Decision {
  const { metadata } = object;
  const finalizers = wantedFinalizers(metadata.finalizers ?? [], options);
  const grace = graceSeconds(kind, object, options.gracePeriodSeconds);
  const held = finalizers.length > 0 || grace > 0 || !isFinalized(kind, object);
  if (!held) return "delete";
  const same = metadata.deletionTimestamp && grace === (metadata.deletionGracePeriodSeconds ?? 0);
  if (same && finalizers.length === (metadata.finalizers ?? []).length) return undefined;
  const marked = withMetadata(object, {
    deletionTimestamp: deletionTime(metadata, grace, wallMs),
    ...(kind === namespace ? {} : { deletionGracePeriodSeconds: grace }),
    ...(metadata.generation && !metadata.deletionTimestamp ? { generation: metadata.generation + 1 } : {}),
    ...(finalizers.length > 0 ? { finalizers } : {}),
  });
  return kind === namespace
    ? { ...marked, status: { ...(object.status as object), phase: "Terminating" } }
    : marked;
}

/** A later deletion can shorten the grace period, but not extend it. */
function graceSeconds(kind: Kind, object: ApiObject, asked: number | undefined): number {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  // Kubernetes reads a negative period as one second.
  const wanted = asked !== undefined && asked < 0 ? 1 : asked;
  if (deletionTimestamp) return Math.min(wanted ?? Number.POSITIVE_INFINITY, deletionGracePeriodSeconds);
  return kind.graceSeconds?.(object, wanted) ?? 0;
}

/** The end of the grace period. */
function deletionTime({ deletionTimestamp, ...meta }: ObjectMeta, grace: number, wallMs: number): string {
  if (deletionTimestamp === undefined) return formatTime(wallMs + grace * 1000);
  const shortened = (meta.deletionGracePeriodSeconds ?? 0) - grace;
  return formatTime(Date.parse(deletionTimestamp) - shortened * 1000);
}

/** control/namespaces.ts removes a namespace after its content. Until then the finalizer in its spec holds it. */
export function isFinalized(kind: Kind, object: ApiObject): boolean {
  if (kind !== namespace) return true;
  const spec = object.spec as { finalizers?: string[] } | undefined;
  return !spec?.finalizers?.length;
}

function wantedFinalizers(
  present: string[],
  { propagationPolicy, orphanDependents }: DeletionOptions,
): string[] {
  const policy = propagationPolicy ?? (orphanDependents ? "Orphan" : undefined);
  if (policy === undefined) return present;
  const others = present.filter((name) => name !== foregroundFinalizer && name !== orphanFinalizer);
  if (policy === "Foreground") return [...others, foregroundFinalizer];
  return policy === "Orphan" ? [...others, orphanFinalizer] : others;
}

/** Removes a finalizer from an object that is being deleted, and the object if nothing else holds it. */
export function withoutFinalizer(object: ApiObject, name: string): Decision {
  const { finalizers = [], deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  if (!deletionTimestamp || !finalizers.includes(name)) return undefined;
  const left = finalizers.filter((finalizer) => finalizer !== name);
  if (left.length === 0 && !deletionGracePeriodSeconds) return "delete";
  const { finalizers: _all, ...metadata } = object.metadata;
  return { ...object, metadata: left.length > 0 ? { ...metadata, finalizers: left } : metadata };
}
