/** Pod. The API only stores it. A node agent runs it. */
import { ageColumn, type Kind, nameColumn, section } from "../kind.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject, JsonObject } from "../object.ts";
import { equal } from "../object.ts";
import { roundToMilli } from "../quantity.ts";
import { type FieldError, field } from "../status.ts";
import { type Container, defaultPodSpec, type PodSpec, validatePodSpec } from "./pod-template.ts";

interface ContainerStatus {
  ready?: boolean;
  restartCount?: number;
  state?: {
    running?: JsonObject;
    waiting?: { reason?: string };
    terminated?: { reason?: string; exitCode?: number };
  };
}

const specOf = (object: ApiObject) => (object.spec ?? {}) as PodSpec;
const statusOf = (object: ApiObject) =>
  section(object, "status") as JsonObject & { containerStatuses?: ContainerStatus[] };
const orNone = (value: unknown) => value || "<none>";

export const pod: Kind = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  namespaced: true,
  type: "api.core.v1.Pod",
  storage: "pods",
  name: isDnsSubdomain,
  status: true,
  statusKeeps: ["ownerReferences"],
  generation: true,
  selectable: {
    "spec.nodeName": (object) => specOf(object).nodeName ?? "",
    "spec.restartPolicy": (object) => specOf(object).restartPolicy ?? "",
    "spec.schedulerName": (object) => String(specOf(object).schedulerName ?? ""),
    "spec.serviceAccountName": (object) => specOf(object).serviceAccountName ?? "",
    "status.phase": (object) => String(statusOf(object).phase ?? ""),
    "status.podIP": (object) => String(statusOf(object).podIP ?? ""),
    "status.nominatedNodeName": (object) => String(statusOf(object).nominatedNodeName ?? ""),
  },
  columns: [
    nameColumn,
    {
      name: "Ready",
      cell: (object) => {
        const ready = (statusOf(object).containerStatuses ?? []).filter(
          (container) => container.ready,
        ).length;
        return `${ready}/${specOf(object).containers?.length ?? 0}`;
      },
    },
    { name: "Status", cell: printStatus },
    {
      name: "Restarts",
      cell: (object) => {
        const counts = (statusOf(object).containerStatuses ?? []).map(
          (container) => container.restartCount ?? 0,
        );
        return String(counts.reduce((sum, count) => sum + count, 0));
      },
    },
    ageColumn,
    { name: "IP", priority: 1, cell: (object) => orNone(statusOf(object).podIP) },
    { name: "Node", priority: 1, cell: (object) => orNone(specOf(object).nodeName) },
    { name: "Nominated Node", priority: 1, cell: (object) => orNone(statusOf(object).nominatedNodeName) },
    { name: "Readiness Gates", priority: 1, cell: () => "<none>" },
  ],
  defaults(object, old) {
    const spec = withRequests(defaultPodSpec(specOf(object)));
    spec.serviceAccountName ??= "default";
    spec.serviceAccount ??= spec.serviceAccountName;
    spec.enableServiceLinks ??= true;
    const status = old ? object.status : { phase: "Pending", qosClass: qosClass(spec) };
    return { ...object, spec, status };
  },
  validate(object, old) {
    const errors: FieldError[] = validatePodSpec(specOf(object), "spec");
    if (old && !equal(immutablePart(specOf(object)), immutablePart(specOf(old)))) {
      const fields =
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
      errors.push(field.forbidden("spec", `pod updates may not change fields other than ${fields}`));
    }
    return errors;
  },
  // A pod without a node is removed immediately. A node removes its pods after it has stopped them.
  graceSeconds(object, asked) {
    if (!specOf(object).nodeName || ["Failed", "Succeeded"].includes(String(statusOf(object).phase)))
      return 0;
    return asked ?? Number(specOf(object).terminationGracePeriodSeconds ?? 30);
  },
};

type Amounts = Record<string, string>;

/** A container requests what its limits allow, unless it says otherwise. Amounts are whole thousandths. */
function withRequests(spec: PodSpec): PodSpec {
  const rounded = (amounts: Amounts) =>
    Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, roundToMilli(amount)]));
  const complete = (container: Container): Container => {
    const { limits, requests, ...rest } = (container.resources ?? {}) as {
      limits?: Amounts;
      requests?: Amounts;
    };
    if (!limits && !requests) return container;
    const resources = {
      ...(limits ? { limits: rounded(limits) } : {}),
      requests: rounded({ ...limits, ...requests }),
      ...rest,
    };
    return { ...container, resources };
  };
  return {
    ...spec,
    containers: (spec.containers ?? []).map(complete),
    ...(spec.initContainers ? { initContainers: spec.initContainers.map(complete) } : {}),
  };
}

/** The part of the spec that cannot change. */
function immutablePart(spec: PodSpec): JsonObject {
  const images = (containers: PodSpec["containers"]) =>
    containers?.map((container) => ({ ...container, image: "" }));
  return {
    ...spec,
    containers: images(spec.containers),
    initContainers: images(spec.initContainers),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
    terminationGracePeriodSeconds: undefined,
  };
}

function qosClass(spec: PodSpec): string {
  const resources = (spec.containers ?? []).map((container) => (container.resources ?? {}) as JsonObject);
  const set = (value: unknown) => Object.keys((value ?? {}) as JsonObject).length > 0;
  if (!resources.some(({ limits, requests }) => set(limits) || set(requests))) return "BestEffort";
  const guaranteed = ({ limits, requests }: JsonObject) => {
    const limit = (limits ?? {}) as JsonObject;
    const request = (requests ?? limits ?? {}) as JsonObject;
    return (
      limit.cpu !== undefined &&
      limit.memory !== undefined &&
      equal(limit.cpu, request.cpu) &&
      equal(limit.memory, request.memory)
    );
  };
  return resources.every(guaranteed) ? "Guaranteed" : "Burstable";
}

function printStatus(object: ApiObject): string {
  const status = statusOf(object);
  if (object.metadata.deletionTimestamp) return "Terminating";
  let reason = String(status.reason ?? status.phase ?? "");
  for (const { state } of status.containerStatuses ?? []) {
    if (state?.waiting?.reason) reason = state.waiting.reason;
    else if (state?.terminated) reason = state.terminated.reason ?? `ExitCode:${state.terminated.exitCode}`;
  }
  return reason;
}
