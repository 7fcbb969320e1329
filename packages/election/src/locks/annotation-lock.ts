/** Legacy locks, which client-go used before Leases existed. The record is JSON in an annotation. */
import type { LeaderRecord } from "@tenure/core";
import type { KubeObject, ObjectKind } from "./object-kind.ts";
import { ObjectLock, type ObjectLockOptions } from "./object-lock.ts";
import { type RawRecord, readRecord, UnreadableRecord } from "./record-fields.ts";

export const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader";

function annotatedKind(kind: string, plural: string): ObjectKind {
  return { kind, apiVersion: "v1", root: "/api/v1", plural, read: (object) => read(kind, object), write };
}

function read(kind: string, { metadata }: KubeObject): LeaderRecord {
  const json = metadata.annotations?.[leaderAnnotation];
  if (json === undefined) return readRecord({});
  const { leaderTransitions, ...rest } = parse(json, `${kind} ${metadata.namespace}/${metadata.name}`);
  return readRecord({ ...rest, transitions: leaderTransitions });
}

function parse(json: string, where: string): RawRecord & { readonly leaderTransitions?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = undefined;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UnreadableRecord(
    `the annotation ${leaderAnnotation} of ${where} is not a JSON object: ${JSON.stringify(json.slice(0, 80))}. ` +
      "Correct it, or remove it when no candidate leads",
  );
}

function write(object: KubeObject, record: LeaderRecord): KubeObject {
  const { leaseTransitions, ...rest } = record;
  const before = object.metadata.annotations?.[leaderAnnotation];
  // Unknown fields of the record are kept.
  const existing = before === undefined ? {} : parse(before, object.metadata.name ?? "");
  const json = JSON.stringify({ ...existing, ...rest, leaderTransitions: leaseTransitions });
  const annotations = { ...object.metadata.annotations, [leaderAnnotation]: json };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Stores the record in an annotation of a ConfigMap. For elections that do not use a Lease yet: see MigrationLock. */
export class ConfigMapLock extends ObjectLock {
  constructor(options: ObjectLockOptions) {
    super(annotatedKind("ConfigMap", "configmaps"), options);
  }
}

/** Stores the record in an annotation of an Endpoints object. For elections that do not use a Lease yet: see MigrationLock. */
export class EndpointsLock extends ObjectLock {
  constructor(options: ObjectLockOptions) {
    super(annotatedKind("Endpoints", "endpoints"), options);
  }
}
