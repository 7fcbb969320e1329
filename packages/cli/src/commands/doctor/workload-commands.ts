/** Commands that change a workload. Undefined for pods without a workload, which cannot be scaled or patched. Pure. */
import type { Advice } from "./advice.ts";
import { isKnown, resourceOf, type Workload } from "./workload.ts";

export function patchCommand(workload: Workload, spec: object, advice: Advice): string | undefined {
  if (!isKnown(workload)) return undefined;
  return advice.kubectl(`patch ${resourceOf(workload)} --type=merge -p '${JSON.stringify({ spec })}'`);
}

/** A DaemonSet has no number of replicas. */
export function scaleCommand(workload: Workload, replicas: number, advice: Advice): string | undefined {
  if (!isKnown(workload) || workload.kind === "DaemonSet") return undefined;
  return advice.kubectl(`scale ${resourceOf(workload)} --replicas=${replicas}`);
}
