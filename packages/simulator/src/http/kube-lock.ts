/** A lock in Kubernetes objects, as one process uses it, with the real client. */
import {
  ConfigMapLock,
  EndpointsLock,
  LeaseLock,
  type Lock,
  MigrationLock,
  type ObjectLockOptions,
} from "@tenure/election";
import { KubeClient } from "@tenure/kube";
import type { ProcessParts } from "../process.ts";
import type { HttpApi } from "./api.ts";
import { simulatedHttp } from "./network.ts";
import { type LockKind, lockLabels, lockName, namespace } from "./objects.ts";
import { type CredentialKind, podOf } from "./pod.ts";

interface KubeLockParts extends Pick<ProcessParts, "id" | "machine" | "scheduler"> {
  readonly api: HttpApi;
  readonly credentials: CredentialKind;
  /** The lock objects that the process uses, by their place in the API: one, or two during a migration. */
  readonly objects: readonly number[];
}

const locks: Record<LockKind, new (options: ObjectLockOptions) => Lock> = {
  Lease: LeaseLock,
  ConfigMap: ConfigMapLock,
  Endpoints: EndpointsLock,
};

export function kubeLock({ id, machine, scheduler, api, credentials, objects }: KubeLockParts): Lock {
  const { clock, link, random, defer } = machine;
  const { platform, load } = podOf({
    kind: credentials,
    clock,
    http: simulatedHttp({ api, link, scheduler, random, defer, writer: id }),
    random,
    accounts: api.accounts,
    slowMs: () => link.slowCredentialsMs,
    sleep: (ms) => new Promise((resolve) => scheduler.after(ms, () => defer(resolve))),
  });
  const client = new KubeClient(load, { platform });
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
