/** The lock as a Kubernetes object, in JSON. */
import type { LeaderRecord } from "@tenure/core";
import { leaderAnnotation } from "@tenure/election/internal";
import type { Annotations, StoredLock } from "../server.ts";

export type LockKind = "Lease" | "ConfigMap" | "Endpoints";

export const lockName = "sim";
export const namespace = "sim";

/** Entries with these prefixes are shown as labels and in the spec of a Lease, so that a lock which drops those is found too. */
const labelPrefix = "label:";
const specPrefix = "spec:";
/** The candidate that the API server prefers in a coordinated election, as the store holds it. */
export const preferredHolder = "spec:preferredHolder";
/** How the API server chooses, as the store holds it. */
export const strategy = "spec:strategy";
/** A label that some candidates set, as the store holds it. */
export const ownLabel = "label:example.com/elected";
export const lockLabels = { "example.com/elected": "true" };

const places = {
  Lease: { apiVersion: "coordination.k8s.io/v1", group: "coordination.k8s.io", plural: "leases" },
  ConfigMap: { apiVersion: "v1", group: "", plural: "configmaps" },
  Endpoints: { apiVersion: "v1", group: "", plural: "endpoints" },
} as const;

/** How a candidate of a coordinated election tells the API server that it takes part. */
export const leaseCandidates = { group: "coordination.k8s.io", plural: "leasecandidates" } as const;

export function placeOf(kind: LockKind): { readonly group: string; readonly plural: string } {
  const { group, plural } = places[kind];
  return { group, plural };
}

export function objectOf(kind: LockKind, lock: StoredLock, revision = lock.revision): object {
  const annotations: Record<string, string> = {};
  const labels: Record<string, string> = {};
  const spec: Record<string, string> = {};
  for (const [name, value] of Object.entries(lock.object.annotations)) {
    if (name.startsWith(labelPrefix)) labels[name.slice(labelPrefix.length)] = value;
    else if (name.startsWith(specPrefix)) spec[name.slice(specPrefix.length)] = value;
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
    ...(kind === "Lease" && {
      spec: lock.isUnreadable ? { holderIdentity: 1 } : { ...spec, ...lock.record },
    }),
  };
}

interface SentObject {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly generation?: number;
    readonly labels?: Annotations;
    readonly annotations?: Annotations;
  };
  readonly spec?: LeaderRecord & Readonly<Record<string, unknown>>;
}

/** What a Lease of a coordinated election has beside the record. */
const otherFields = ["preferredHolder", "strategy"] as const;

/** What a candidate sends: the record, and everything else as it sends it. */
export function parseObject(kind: LockKind, body: string) {
  const { metadata, spec } = JSON.parse(body) as SentObject;
  const { [leaderAnnotation]: json = "{}", ...annotations } = metadata.annotations ?? {};
  const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => [labelPrefix + name, value]);
  const { leaderTransitions, ...rest } = JSON.parse(json) as LeaderRecord & { leaderTransitions: number };
  const record = kind === "Lease" ? recordIn(spec) : { ...rest, leaseTransitions: leaderTransitions };
  const others = otherFields.flatMap((name) => {
    const value = spec?.[name];
    return typeof value === "string" ? [[specPrefix + name, value]] : [];
  });
  const over =
    metadata.resourceVersion === undefined
      ? undefined
      : { version: metadata.resourceVersion, timeline: metadata.generation ?? 0 };
  const entries = Object.fromEntries([...labels, ...others]);
  return { record, over, annotations: { ...annotations, ...entries } as Annotations };
}

function recordIn(spec: SentObject["spec"]): LeaderRecord {
  const { preferredHolder: _, strategy: __, ...record } = spec as LeaderRecord & Record<string, unknown>;
  return record;
}
