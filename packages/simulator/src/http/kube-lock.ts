/** A lock in Kubernetes objects, as one process uses it, with the real client. */
import {
  ConfigMapLock,
  EndpointsLock,
  LeaseLock,
  type Lock,
  MigrationLock,
  type ObjectLockOptions,
} from "@tenure/election";
import { type ClientParts, simulatedClient } from "./client.ts";
import { type LockKind, lockLabels, lockName, namespace } from "./objects.ts";

interface KubeLockParts extends ClientParts {
  /** The lock objects that the process uses, by their place in the API: one, or two during a migration. */
  readonly objects: readonly number[];
}

const locks: Record<LockKind, new (options: ObjectLockOptions) => Lock> = {
  Lease: LeaseLock,
  ConfigMap: ConfigMapLock,
  Endpoints: EndpointsLock,
};

export function kubeLock(parts: KubeLockParts): Lock {
  const { api, objects } = parts;
  const { random } = parts.machine;
  const client = simulatedClient(parts);
  const options: ObjectLockOptions = {
    name: lockName,
    client,
    shareWatch: random.chance(0.3),
    // Otherwise the client finds it in the kubeconfig or in the pod.
    ...(random.chance(0.5) && { namespace }),
    ...(random.chance(0.2) && { labels: lockLabels }),
  };
  const used = api.objects.filter((_, index) => objects.includes(index));
  const [from, to] = used.map(({ kind }) => new locks[kind](options)) as [Lock, Lock | undefined];
  return to ? new MigrationLock({ from, to }) : from;
}
