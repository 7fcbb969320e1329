/**
 * The object that holds an election's lock, and the record in it, for each of the three kinds.
 * Reading is lenient on purpose: an operator who looks at a broken lock wants to see what is broken. Candidates do not use
 * this code; @tenure/core reads records strictly and decides who may lead.
 */
import type { LeaderRecord } from "@tenure/core";
import { leaderAnnotation } from "@tenure/election/internal";

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly time?: string;
  readonly fieldsV1?: unknown;
}

export interface LockObject {
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

export type LockKind = "lease" | "configmap" | "endpoints";

export interface LockKindFacts {
  readonly kind: LockKind;
  /** The kind as the API spells it. */
  readonly apiKind: "Lease" | "ConfigMap" | "Endpoints";
  readonly apiGroup: string;
  readonly plural: string;
  readonly root: string;
}

export const lockKinds: Readonly<Record<LockKind, LockKindFacts>> = {
  lease: {
    kind: "lease",
    apiKind: "Lease",
    apiGroup: "coordination.k8s.io",
    plural: "leases",
    root: "/apis/coordination.k8s.io/v1",
  },
  configmap: { kind: "configmap", apiKind: "ConfigMap", apiGroup: "", plural: "configmaps", root: "/api/v1" },
  endpoints: { kind: "endpoints", apiKind: "Endpoints", apiGroup: "", plural: "endpoints", root: "/api/v1" },
};

export function collectionPath(kind: LockKind, namespace: string | undefined): string {
  const { root, plural } = lockKinds[kind];
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}

export function objectPath(kind: LockKind, namespace: string, name: string): string {
  return `${collectionPath(kind, namespace)}/${name}`;
}

/** The name that kubectl prints and takes: `lease.coordination.k8s.io/billing`. @param store set if the lock is not in Kubernetes */
export function resourceName(of: { readonly kind: LockKind; readonly name: string }, store?: string): string {
  if (store !== undefined) return of.name;
  const { apiGroup } = lockKinds[of.kind];
  return `${of.kind}${apiGroup === "" ? "" : `.${apiGroup}`}/${of.name}`;
}

/** The record of a lock. `problem` says why it is not a valid one. */
export type ReadRecord = LeaderRecord & { readonly problem?: string };

/** The record in this object, or undefined if it is not a lock. A Lease always is; the others are if they have the annotation. */
export function recordIn(kind: LockKind, object: LockObject): ReadRecord | undefined {
  if (kind === "lease") return fromFields(object.spec ?? {}, "leaseTransitions");
  const json = object.metadata.annotations?.[leaderAnnotation];
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return fromFields(value as Record<string, unknown>, "leaderTransitions");
    }
  } catch {
    // Reported below, like every other value that is not an object.
  }
  const problem = `the annotation ${leaderAnnotation} is not a JSON object: ${JSON.stringify(json.slice(0, 80))}`;
  return { ...fromFields({}, ""), problem };
}

function fromFields(fields: Readonly<Record<string, unknown>>, transitions: string): ReadRecord {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime } = fields;
  const isHolder =
    holderIdentity === undefined || holderIdentity === null || typeof holderIdentity === "string";
  return {
    holderIdentity: typeof holderIdentity === "string" ? holderIdentity : "",
    leaseDurationSeconds: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds : undefined,
    acquireTime: text(acquireTime),
    renewTime: text(renewTime),
    leaseTransitions: typeof fields[transitions] === "number" ? (fields[transitions] as number) : 0,
    ...(!isHolder && { problem: `holderIdentity is not a string: ${JSON.stringify(holderIdentity)}` }),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * When the API server stored the present value of a field, by its own clock and to the second. managedFields record only the
 * last write of each manager, so the result can be too late if one manager writes several fields.
 * @param path for example `["f:spec", "f:renewTime"]`
 */
export function writtenAtMs(object: LockObject, path: readonly string[]): number | undefined {
  const times = (object.metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => owns(fieldsV1, path))
    .map(({ time }) => Date.parse(time ?? ""))
    .filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : Math.max(...times);
}

function owns(fields: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  const below = (fields as Record<string, unknown> | undefined | null)?.[first];
  return below !== undefined && owns(below, rest);
}

/** When the record was last written, by the API server's clock. */
export function recordWrittenAtMs(kind: LockKind, object: LockObject): number | undefined {
  return writtenAtMs(
    object,
    kind === "lease" ? ["f:spec", "f:renewTime"] : ["f:metadata", "f:annotations", `f:${leaderAnnotation}`],
  );
}
