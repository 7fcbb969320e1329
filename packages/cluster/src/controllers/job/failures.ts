/** What the failure of a pod means to its Job: podFailurePolicy, and the failures of each index. */
import type { Pod } from "../../client/objects.ts";
import { isFinished, isTerminating } from "../../client/pods.ts";
import type { Job, PodFailureRule } from "../../client/workloads.ts";
import { indexOf, isIndexed } from "./indexes.ts";

const countKey = "batch.kubernetes.io/job-index-failure-count";
const ignoredKey = "batch.kubernetes.io/job-index-ignored-failure-count";

/** How often the pods of an index have failed. Each pod carries the failures of those before it. */
export interface IndexFailures {
  readonly counted: number;
  readonly ignored: number;
}

/** Whether the pod counts as failed: also a pod that is deleted, unless the Job waits for the end of such pods. */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (isFinished(pod)) return pod.status?.phase === "Failed";
  return isTerminating(pod) && job.spec.podReplacementPolicy !== "Failed";
}

/** The action of the first rule that matches a failed pod, and a sentence about it. */
export function failureAction(
  { spec }: Job,
  pod: Pod,
): { readonly action: string; readonly message: string } | undefined {
  const { namespace, name } = pod.metadata;
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const what = matchOf(rule, pod);
    if (what === undefined) continue;
    const { action } = rule;
    const subject = what.container === undefined ? "Pod" : `Container ${what.container} for pod`;
    const message = `${subject} ${namespace}/${name} ${what.text} matching ${action} rule at index ${index}`;
    return { action, message };
  }
  return undefined;
}

function matchOf(
  { onExitCodes, onPodConditions }: PodFailureRule,
  { status }: Pod,
): { container?: string; text: string } | undefined {
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes;
    for (const container of [
      ...(status?.containerStatuses ?? []),
      ...(status?.initContainerStatuses ?? []),
    ]) {
      const code = container.state?.terminated?.exitCode ?? 0;
      if (code === 0 || (containerName !== undefined && containerName !== container.name)) continue;
      if (values.includes(code) === (operator === "In"))
        return { container: container.name, text: `failed with exit code ${code}` };
    }
    return undefined;
  }
  const condition = status?.conditions?.find(({ type, status: is }) =>
    onPodConditions?.some((pattern) => pattern.type === type && (pattern.status ?? "True") === is),
  );
  return condition && { text: `has condition ${condition.type}` };
}

export const isIgnored = (job: Job, pod: Pod) => failureAction(job, pod)?.action === "Ignore";

export const countsPerIndex = (job: Job) => isIndexed(job) && job.spec.backoffLimitPerIndex !== undefined;

/** Whether the failure of this pod is the last that its index is allowed. */
export function endsIndex(job: Job, pod: Pod): boolean {
  if (!hasFailed(job, pod)) return false;
  const action = failureAction(job, pod)?.action;
  if (action === "FailIndex") return true;
  return action !== "Ignore" && failuresBefore(pod).counted >= (job.spec.backoffLimitPerIndex ?? 0);
}

/** The failures of an index before this pod. */
export function failuresBefore({ metadata }: Pod): IndexFailures {
  const read = (key: string) => {
    const text = metadata.annotations?.[key] ?? "";
    return /^\d{1,9}$/.test(text) ? Number(text) : 0;
  };
  return { counted: read(countKey), ignored: read(ignoredKey) };
}

/** The failures that the replacement of a failed pod carries. */
export function failuresAfter(job: Job, pod: Pod | undefined): IndexFailures {
  if (!pod) return { counted: 0, ignored: 0 };
  const { counted, ignored } = failuresBefore(pod);
  return isIgnored(job, pod) ? { counted, ignored: ignored + 1 } : { counted: counted + 1, ignored };
}

export function failureAnnotations({ counted, ignored }: IndexFailures): Record<string, string> {
  return { [countKey]: String(counted), ...(ignored > 0 ? { [ignoredKey]: String(ignored) } : {}) };
}

/**
 * The last failed pod of each index that waits for its replacement. It must not go before: only it knows how often the index has
 * failed.
 *
 * @param ended indexes that need no other pod
 */
export function awaitingReplacement(
  job: Job,
  pods: readonly Pod[],
  ended: ReadonlySet<number>,
): ReadonlyMap<number, Pod> {
  const awaiting = new Map<number, Pod>();
  if (!countsPerIndex(job)) return awaiting;
  const total = (pod: Pod) => failuresBefore(pod).counted + failuresBefore(pod).ignored;
  const alive = new Set(pods.filter((pod) => !isFinished(pod) && !isTerminating(pod)).map(indexOf));
  for (const pod of pods) {
    const index = indexOf(pod);
    if (index === undefined || !hasFailed(job, pod) || ended.has(index) || alive.has(index)) continue;
    const known = awaiting.get(index);
    if (!known || total(known) <= total(pod)) awaiting.set(index, pod);
  }
  return awaiting;
}
