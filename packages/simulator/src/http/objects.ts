/** The lock as a Kubernetes object, in JSON. */
import type { LeaderRecord } from "@tenure/core";
import { leaderAnnotation } from "@tenure/election/internal";
import type { Annotations, StoredLock } from "../server.ts";

export type LockKind = "Lease" | "ConfigMap" | "Endpoints";

export const lockName = "sim";
export const namespace = "sim";

/** Entries with this prefix are shown as labels, so that a lock which drops labels is found too. */
const labelPrefix = "label:";
/** A label that some candidates set, as the store holds it. */
export const ownLabel = "label:example.com/elected";
export const lockLabels = { "example.com/elected": "true" };

const places = {
  Lease: { apiVersion: "coordination.k8s.io/v1", group: "coordination.k8s.io", plural: "leases" },
  ConfigMap: { apiVersion: "v1", group: "", plural: "configmaps" },
  Endpoints: { apiVersion: "v1", group: "", plural: "endpoints" },
} as const;

export function placeOf(kind: LockKind): { readonly group: string; readonly plural: string } {
  return places[kind];
}

export function objectOf(kind: LockKind, lock: StoredLock, revision = lock.revision): object {
  const annotations: Record<string, string> = {};
  const labels: Record<string, string> = {};
  for (const [name, value] of Object.entries(lock.object.annotations)) {
    if (name.startsWith(labelPrefix)) labels[name.slice(labelPrefix.length)] = value;
    else annotations[name] = value;
  }
  const { leaseTransitions, ...rest } = lock.record;
  if (kind !== "Lease") {
    const json = JSON.stringify({ ...rest, leaderTransitions: leaseTransitions });
    annotations[leaderAnnotation] = lock.isUnreadable ? "not JSON" : json;
  }
  return {
    apiVersion: places[kind].apiVersion,
    kind,
    metadata: {
      name: lockName,
      namespace,
      uid: lock.uid,
      resourceVersion: String(revision),
      generation: lock.timeline,
      labels,
      annotations,
    },
    ...(kind === "Lease" && { spec: lock.isUnreadable ? { holderIdentity: 1 } : lock.record }),
  };
}

interface SentObject {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly labels?: Annotations;
    readonly annotations?: Annotations;
  };
  readonly spec?: LeaderRecord;
}

/** What a candidate sends: the record, and everything else as it sends it. */
export function parseObject(kind: LockKind, body: string) {
  const { metadata, spec } = JSON.parse(body) as SentObject;
  const { [leaderAnnotation]: json = "{}", ...annotations } = metadata.annotations ?? {};
  const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => [labelPrefix + name, value]);
  const { leaderTransitions, ...rest } = JSON.parse(json) as LeaderRecord & { leaderTransitions: number };
  const record = kind === "Lease" ? (spec as LeaderRecord) : { ...rest, leaseTransitions: leaderTransitions };
  const over =
    metadata.resourceVersion === undefined
      ? undefined
      : { version: metadata.resourceVersion, timeline: metadata.generation ?? 0 };
  return { record, over, annotations: { ...annotations, ...Object.fromEntries(labels) } as Annotations };
}
