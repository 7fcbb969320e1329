import type { LeaderRecord } from "@tenure/core";
import type { KubeObject, ObjectKind } from "./object-kind.ts";
import { ObjectLock, type ObjectLockOptions } from "./object-lock.ts";
import { readRecord } from "./record-fields.ts";

/** How the record is stored in a Lease. */
export const leaseKind: ObjectKind = {
  kind: "Lease",
  apiVersion: "coordination.k8s.io/v1",
  root: "/apis/coordination.k8s.io/v1",
  plural: "leases",
  read: ({ spec }) => {
    const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = (spec ??
      {}) as Record<string, unknown>;
    return readRecord({
      holderIdentity,
      leaseDurationSeconds,
      acquireTime,
      renewTime,
      transitions: leaseTransitions,
    });
  },
  preferredHolder: ({ spec }) => {
    const { preferredHolder } = (spec ?? {}) as { preferredHolder?: unknown };
    return typeof preferredHolder === "string" && preferredHolder !== "" ? preferredHolder : undefined;
  },
  write: (object: KubeObject, record: LeaderRecord) => {
    const { preferredHolder, ...spec } = (object.spec ?? {}) as Record<string, unknown>;
    // With a release, the wish of the API server for another holder is fulfilled.
    const isKept = preferredHolder !== undefined && record.holderIdentity !== "";
    return { ...object, spec: { ...spec, ...(isKept && { preferredHolder }), ...record } };
  },
};

/**
 * Stores the record in a `coordination.k8s.io/v1` Lease, as Kubernetes itself does. New elections should use this lock.
 * @example new LeaseLock({ namespace: "prod", name: "billing" })
 */
export class LeaseLock extends ObjectLock {
  constructor(options: ObjectLockOptions) {
    super(leaseKind, options);
  }
}
