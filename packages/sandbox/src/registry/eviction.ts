/**
 * POST of an Eviction: deletes a pod, unless a PodDisruptionBudget does not allow it. The budget is charged before the
 * pod is deleted. If the deletion then fails, a disruption is lost until a controller counts the pods again; the other
 * order could delete too many pods.
 */
import { type Kind, keyOf, prefixOf, section } from "../objects/kind.ts";
import { pod } from "../objects/kinds/pod.ts";
import { podDisruptionBudget } from "../objects/kinds/policy.ts";
import { type LabelSelector, matchesLabels } from "../objects/label-selector.ts";
import { type ApiObject, isObject, type JsonObject } from "../objects/object.ts";
import { ApiError, badRequest, forbidden, notFound } from "../objects/status.ts";
import { formatTime } from "../objects/time.ts";
import type { Stored } from "../store/types.ts";
import { readBody } from "./body.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { decodeOrReject } from "./decode-body.ts";
import { type DeleteOptions, deleteObject } from "./delete.ts";
import { findObject } from "./get.ts";

/** More pods than this wait for their deletion only if no controller counts them. */
const maxDisruptedPods = 2000;
const retryAfterSeconds = 10;

interface BudgetStatus extends JsonObject {
  observedGeneration?: number;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  disruptedPods?: Record<string, string>;
  conditions?: Condition[];
}

interface Condition extends JsonObject {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

const disruptionAllowed = "DisruptionAllowed";
const disruptionTarget = "DisruptionTarget";

export async function evict(context: KindContext): Promise<ApiResponse> {
  const { info, request } = context;
  const { value } = await readBody(context, "Eviction");
  const { value: eviction } = decodeOrReject(
    "api.policy.v1.Eviction",
    value,
    (why) => `Eviction in version "v1" cannot be handled as a Eviction: ${why}`,
  );
  const { name } = (eviction.metadata ?? {}) as { name?: string };
  if (name !== undefined && name !== info.name)
    throw badRequest("name in URL does not match name in Eviction object");
  const dryRun = request.query.getAll("dryRun").filter((text) => text !== "");
  const options: DeleteOptions = {
    ...(isObject(eviction.deleteOptions) ? (eviction.deleteOptions as DeleteOptions) : {}),
    ...(dryRun.length > 0 ? { dryRun } : {}),
  };
  const found = findObject(context).value;
  if (needsBudget(found)) await chargeBudget(context, found, (options.dryRun ?? []).length > 0);
  if ((options.dryRun ?? []).length === 0) await markDisrupted(context);
  await deleteObject({ ...context, kind: pod }, info.namespace, info.name, options);
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return { type: "object", code: 201, value: status };
}

/** Tells why the pod ends. A Job can decide by this condition that the failure does not count. */
async function markDisrupted({ cluster, info }: KindContext): Promise<void> {
  const lastTransitionTime = formatTime(cluster.platform.clock.now().wallMs);
  await cluster.store.commit(keyOf(pod, info.namespace, info.name), (current) => {
    if (!current) return undefined;
    const status = section(current.value, "status") as { conditions?: Condition[] };
    const others = (status.conditions ?? []).filter(({ type }) => type !== disruptionTarget);
    const condition = {
      type: disruptionTarget,
      status: "True",
      observedGeneration: current.value.metadata.generation,
      lastProbeTime: null,
      lastTransitionTime,
      reason: "EvictionByEvictionAPI",
      message: "Eviction API: evicting",
    };
    return { ...current.value, status: { ...status, conditions: [...others, condition] } };
  });
}

/** A pod that does not run, or is already being deleted, disrupts nothing. */
function needsBudget(object: ApiObject): boolean {
  const phase = section(object, "status").phase;
  return (
    !object.metadata.deletionTimestamp && !["Succeeded", "Failed", "Pending"].includes(String(phase ?? ""))
  );
}

async function chargeBudget(context: KindContext, object: ApiObject, dryRun: boolean): Promise<void> {
  const { cluster, info } = context;
  const budget = findBudget(context, object);
  if (!budget || unhealthyPodIsFree(object, budget)) return;
  const charge = (current: Stored | undefined) => {
    if (!current) throw notFound(subjectOf(podDisruptionBudget, budget.metadata.name));
    return charged(current.value, info.name, formatTime(cluster.platform.clock.now().wallMs));
  };
  const key = keyOf(podDisruptionBudget, info.namespace, budget.metadata.name ?? "");
  if (dryRun) charge(cluster.store.get(key));
  else await cluster.store.commit(key, charge);
}

function findBudget({ cluster, info }: KindContext, object: ApiObject): ApiObject | undefined {
  const budgets = cluster.store
    .list(prefixOf(podDisruptionBudget, info.namespace))
    .map(({ value }) => value)
    .filter((budget) => {
      const selector = section(budget, "spec").selector as LabelSelector | undefined;
      return selector !== undefined && matchesLabels(selector, object.metadata.labels ?? {});
    });
  if (budgets.length > 1) {
    const why =
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    throw new ApiError(500, "InternalError", `Internal error occurred: ${why}`, {
      causes: [{ reason: "", message: why }],
    });
  }
  return budgets[0];
}

/** A pod that is not ready does not count as available, so its deletion can be free. */
function unhealthyPodIsFree(object: ApiObject, budget: ApiObject): boolean {
  const conditions = (section(object, "status").conditions ?? []) as { type: string; status: string }[];
  if (conditions.some(({ type, status }) => type === "Ready" && status === "True")) return false;
  if (section(budget, "spec").unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = section(budget, "status") as BudgetStatus;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** The budget with one disruption less. Throws if it has none left. */
function charged(budget: ApiObject, podName: string, time: string): ApiObject {
  const { name = "", generation = 0 } = budget.metadata;
  const status = section(budget, "status") as BudgetStatus;
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  if ((status.observedGeneration ?? 0) < generation)
    throw tooManyRequests(
      `The disruption budget ${name} is still being processed by the server.`,
      retryAfterSeconds,
    );
  const subject = { group: podDisruptionBudget.group, resource: podDisruptionBudget.singular, name };
  if (disruptionsAllowed < 0) throw forbidden(subject, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > maxDisruptedPods)
    throw forbidden(
      subject,
      "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
    );
  if (disruptionsAllowed === 0) throw tooManyRequests(explainRefusal(name, status));
  const left = disruptionsAllowed - 1;
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: left,
      disruptedPods: { ...disruptedPods, [podName]: time },
      ...(left === 0 ? { conditions: withoutDisruptions(status, time) } : {}),
    },
  };
}

function explainRefusal(name: string, status: BudgetStatus): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status;
  const condition = conditions.find(({ type, status: is }) => type === disruptionAllowed && is === "False");
  const refuses = `The disruption budget ${name} does not allow evicting pods currently`;
  // The numbers are not reliable if the controller could not count.
  if (condition?.message && condition.reason === "SyncFailed")
    return `${refuses} because it failed sync: ${condition.message}`;
  if (currentHealthy <= desiredHealthy)
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return condition?.message ? `${refuses} (${condition.reason}): ${condition.message}` : refuses;
}

/** The conditions of a budget that has just allowed its last disruption. */
function withoutDisruptions(
  { conditions = [], observedGeneration }: BudgetStatus,
  time: string,
): Condition[] {
  const others = conditions.filter(({ type }) => type !== disruptionAllowed);
  const before = conditions.find(({ type }) => type === disruptionAllowed);
  const lastTransitionTime = before?.status === "False" ? before.lastTransitionTime : time;
  return [
    ...others,
    {
      type: disruptionAllowed,
      status: "False",
      observedGeneration,
      lastTransitionTime,
      reason: "InsufficientPods",
      message: "",
    },
  ];
}

const subjectOf = ({ group, plural }: Kind, name = "") => ({ group, resource: plural, name });

function tooManyRequests(why: string, waitSeconds?: number): ApiError {
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new ApiError(429, "TooManyRequests", message, {
    ...(waitSeconds ? { retryAfterSeconds: waitSeconds } : {}),
    causes: [{ reason: "DisruptionBudget", message: why }],
  });
}
