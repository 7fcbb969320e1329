/**
 * Whether a rolling update of a Deployment can finish. If only the leader is Ready, the new pods wait for the lease, the
 * Deployment waits for the new pods, and the old leader keeps the lease until the Deployment stops it.
 *
 * The calculation follows the Deployment controller (reconcileOldReplicaSets, scaleDownOldReplicaSetsForRollingUpdate): it
 * stops an old Ready pod only while more than `replicas - maxUnavailable` pods are available. With a single Ready pod, that
 * requires maxUnavailable >= replicas; even replicas - 1 is too small.
 * Verified with the controller of Kubernetes 1.36, with three replicas and with one.
 * Quotas, nodes or images that keep pods from starting are not taken into account.
 */

/** A number of pods, or a percentage of the replicas such as "25%". */
export type Amount = number | string;

export interface RollingUpdate {
  readonly maxUnavailable: Amount;
  readonly maxSurge: Amount;
}

/** "recreate" stops all pods before new ones start. */
export type Strategy = "recreate" | RollingUpdate;

/** The amounts as the Deployment controller computes them: surge is rounded up, unavailable down, and they are never both 0. */
export function resolveAmounts(
  replicas: number,
  { maxUnavailable, maxSurge }: RollingUpdate,
): { unavailable: number; surge: number } {
  const surge = Math.ceil(amountOf(maxSurge, replicas));
  const unavailable = Math.floor(amountOf(maxUnavailable, replicas));
  return surge === 0 && unavailable === 0 ? { unavailable: 1, surge } : { unavailable, surge };
}

/** Why a rollout would hang if only the leader is Ready, with the numbers; undefined if it finishes. */
export function rolloutDeadlock(replicas: number, strategy: Strategy): string | undefined {
  if (strategy === "recreate") return undefined;
  const { unavailable } = resolveAmounts(replicas, strategy);
  if (unavailable >= replicas) return undefined;
  const keeps = replicas - unavailable;
  return (
    `only the leader is Ready, so 1 of ${replicas} pods is available, and maxUnavailable ${strategy.maxUnavailable} ` +
    `(${unavailable} of ${replicas}) keeps the old leader until more than ${keeps} are: the new pods would wait for its lease forever`
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
