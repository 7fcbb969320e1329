/** The bounds of a rolling update: how many pods there may be at most, and how many must be available at least. */
import type { Deployment } from "../../client/workloads.ts";

export interface Bounds {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export const isRolling = ({ spec }: Deployment) =>
  (spec.strategy?.type ?? "RollingUpdate") === "RollingUpdate";

/** Percentages of the surge are rounded up, those of the unavailable pods down. Both 0 would never make progress. */
export function boundsOf(deployment: Deployment): Bounds {
  const { replicas = 1, strategy } = deployment.spec;
  if (!isRolling(deployment)) return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge: surge = "25%", maxUnavailable: unavailable = "25%" } = strategy?.rollingUpdate ?? {};
  const maxSurge = resolve(surge, replicas, Math.ceil);
  const rounded = resolve(unavailable, replicas, Math.floor);
  const maxUnavailable = maxSurge === 0 && rounded === 0 ? 1 : rounded;
  return { replicas, maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

/** The number for a number or a percentage. */
function resolve(value: number | string, of: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value);
  return percent ? round((Number(percent[1]) * of) / 100) : 0;
}
