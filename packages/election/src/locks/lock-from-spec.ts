import type { Lock, LockSpec } from "../lock.ts";
import { ConfigMapLock, EndpointsLock } from "./annotation-lock.ts";
import { LeaseLock } from "./lease-lock.ts";
import { MigrationLock } from "./migration-lock.ts";
import type { ObjectLockOptions } from "./object-lock.ts";

/** Constructs the lock that a spec describes, in another thread. */
export function lockFromSpec(spec: LockSpec): Lock {
  if (spec.kind === "migration") {
    return new MigrationLock({ from: lockFromSpec(spec.from), to: lockFromSpec(spec.to) });
  }
  const options = spec.options as ObjectLockOptions;
  switch (spec.kind) {
    case "lease":
      return new LeaseLock(options);
    case "configmap":
      return new ConfigMapLock(options);
    case "endpoints":
      return new EndpointsLock(options);
  }
}
