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
    const { leaseTransitions, ...rest } = (spec ?? {}) as Record<string, unknown>;
    return readRecord({ ...rest, transitions: leaseTransitions });
  },
  write: (object: KubeObject, record: LeaderRecord) => {
    return { ...object, spec: { ...(object.spec as object | undefined), ...record } };
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
