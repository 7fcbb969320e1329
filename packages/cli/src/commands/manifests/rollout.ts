/**
 * Whether a rolling update of a Deployment can come to its end. Where only the leader is Ready, the new pods wait for the
 * lease, the Deployment waits for the new pods, and the old leader keeps the lease until the Deployment stops it.
 *
 * It reckons as the Deployment controller does (reconcileOldReplicaSets, scaleDownOldReplicaSetsForRollingUpdate): an old
 * Ready pod is stopped only while more than `replicas - maxUnavailable` pods are available. With one Ready pod in all, that
 * is true only for maxUnavailable >= replicas: also replicas - 1 is one too few.
 * Seen so with the controller of Kubernetes 1.36, three replicas and one.
 * It does not know of quotas, nodes or images that keep pods from starting.
 */

/** A number of pods, or a part of the replicas such as "25%". */
export type Amount = number | string;

export interface RollingUpdate {
  readonly maxUnavailable: Amount;
  readonly maxSurge: Amount;
}

/** "recreate" stops all pods before it starts new ones. */
export type Strategy = "recreate" | RollingUpdate;

/** What the Deployment controller makes of the amounts: surge is rounded up, unavailable down, and not both are 0. */
export function resolveAmounts(
  replicas: number,
  { maxUnavailable, maxSurge }: RollingUpdate,
): { unavailable: number; surge: number } {
  const surge = Math.ceil(amountOf(maxSurge, replicas));
  const unavailable = Math.floor(amountOf(maxUnavailable, replicas));
  return surge === 0 && unavailable === 0 ? { unavailable: 1, surge } : { unavailable, surge };
}

/** Why a rollout would never end when only the leader is Ready, with the numbers; undefined where it ends. */
export function rolloutDeadlock(replicas: number, strategy: Strategy): string | undefined {
  if (strategy === "recreate") return undefined;
  const { unavailable } = resolveAmounts(replicas, strategy);
  if (unavailable >= replicas) return undefined;
  const keeps = replicas - unavailable;
  return (
    `only the leader is Ready, so that 1 of ${replicas} pods is available, and maxUnavailable ${strategy.maxUnavailable} ` +
    `(${unavailable} of ${replicas}) keeps the old leader until more than ${keeps} are: the new pods wait for its lease for ever`
  );
}

export function isAmount(value: Amount): boolean {
  return typeof value === "number"
    ? Number.isInteger(value) && value >= 0
    : /^(100|[1-9]?[0-9])%$/.test(value);
}

function amountOf(amount: Amount, replicas: number): number {
  return typeof amount === "number" ? amount : (Number(amount.slice(0, -1)) * replicas) / 100;
}
