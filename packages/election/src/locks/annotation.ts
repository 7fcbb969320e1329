/** Legacy locks: the record as JSON in an annotation, as client-go kept it before there were Leases. */
import type { LeaderRecord } from "@tenure/core";
import { type KubeObject, type ObjectKind, ObjectLock, type ObjectLockOptions } from "./object-lock.ts";
import { type RawRecord, readRecord, UnreadableRecord } from "./record-fields.ts";

export const leaderAnnotation = "control-plane.alpha.kubernetes.io/leader";

function annotated(kind: string, plural: string): ObjectKind {
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
      "Correct it, or remove it once nobody leads",
  );
}

function write(object: KubeObject, record: LeaderRecord): KubeObject {
  const { leaseTransitions, ...rest } = record;
  const before = object.metadata.annotations?.[leaderAnnotation];
  // Fields of the record that are not ours stay as well.
  const known = before === undefined ? {} : parse(before, object.metadata.name ?? "");
  const json = JSON.stringify({ ...known, ...rest, leaderTransitions: leaseTransitions });
  const annotations = { ...object.metadata.annotations, [leaderAnnotation]: json };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** The record in an annotation of a ConfigMap. For elections that cannot move to a Lease yet: see MigrationLock. */
export class ConfigMapLock extends ObjectLock {
  constructor(options: ObjectLockOptions) {
    super(annotated("ConfigMap", "configmaps"), options);
  }
}

/** The record in an annotation of an Endpoints object. For elections that cannot move to a Lease yet: see MigrationLock. */
export class EndpointsLock extends ObjectLock {
  constructor(options: ObjectLockOptions) {
    super(annotated("Endpoints", "endpoints"), options);
  }
}
