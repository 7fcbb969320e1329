/** Deployment and ReplicaSet. They are only stored: no controller acts on them. */
import { ageColumn, type Column, formatLabels, joined, type Kind, nameColumn, section } from "../kind.ts";
import { type LabelSelector, matchesLabels } from "../label-selector.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject, JsonObject, ObjectMeta } from "../object.ts";
import { equal } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";
import { type Container, defaultPodSpec, type PodSpec, validatePodSpec } from "./pod-template.ts";

interface WorkloadSpec extends JsonObject {
  replicas?: number;
  selector?: LabelSelector;
  template?: { metadata?: ObjectMeta; spec?: PodSpec };
}

const specOf = (object: ApiObject) => (object.spec ?? {}) as WorkloadSpec;
const statusNumber = (object: ApiObject, name: string) => Number(section(object, "status")[name] ?? 0);
const containersOf = (object: ApiObject) => (specOf(object).template?.spec?.containers ?? []) as Container[];

const wideColumns: Column[] = [
  { name: "Containers", priority: 1, cell: (object) => joined(containersOf(object).map(({ name }) => name)) },
  { name: "Images", priority: 1, cell: (object) => joined(containersOf(object).map(({ image }) => image)) },
  { name: "Selector", priority: 1, cell: (object) => formatLabels(specOf(object).selector?.matchLabels) },
];

const apps = {
  group: "apps",
  version: "v1",
  namespaced: true,
  name: isDnsSubdomain,
  status: true,
  generation: true,
} as const;

function defaultSpec(object: ApiObject): WorkloadSpec {
  const spec = specOf(object);
  const template = { ...spec.template, spec: defaultPodSpec(spec.template?.spec ?? {}) };
  return { ...spec, replicas: spec.replicas ?? 1, template };
}

function validateWorkload(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const { replicas, selector, template } = specOf(object);
  const errors: FieldError[] = [];
  if (replicas !== undefined && replicas < 0) {
    errors.push(field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  const empty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  if (!selector || Object.keys(selector).length === 0) errors.push(field.required("spec.selector"));
  if (selector && Object.keys(selector).length > 0 && empty) {
    errors.push(field.invalid("spec.selector", selector, "empty selector is invalid for deployment"));
  }
  if (empty || !matchesLabels(selector ?? {}, template?.metadata?.labels ?? {})) {
    const why = "`selector` does not match template `labels`";
    errors.push(field.invalid("spec.template.metadata.labels", template?.metadata?.labels ?? null, why));
  }
  errors.push(...validatePodSpec(template?.spec ?? {}, "spec.template.spec"));
  const policy = template?.spec?.restartPolicy;
  if (policy && policy !== "Always") {
    errors.push(field.notSupported("spec.template.spec.restartPolicy", policy, ["Always"]));
  }
  if (old && !equal(selector, specOf(old).selector)) errors.push(immutable("spec.selector", selector));
  return errors;
}

export const deployment: Kind = {
  ...apps,
  categories: ["all"],
  kind: "Deployment",
  plural: "deployments",
  singular: "deployment",
  shortNames: ["deploy"],
  type: "api.apps.v1.Deployment",
  storage: "deployments",
  columns: [
    nameColumn,
    {
      name: "Ready",
      cell: (object) => `${statusNumber(object, "readyReplicas")}/${specOf(object).replicas ?? 0}`,
    },
    { name: "Up-to-date", type: "integer", cell: (object) => statusNumber(object, "updatedReplicas") },
    { name: "Available", type: "integer", cell: (object) => statusNumber(object, "availableReplicas") },
    ageColumn,
    ...wideColumns,
  ],
  defaults(object) {
    const spec = defaultSpec(object);
    const strategy = { type: "RollingUpdate", ...(spec.strategy as JsonObject) } as JsonObject;
    if (strategy.type === "RollingUpdate") {
      strategy.rollingUpdate = {
        maxUnavailable: "25%",
        maxSurge: "25%",
        ...(strategy.rollingUpdate as JsonObject),
      };
    }
    return { ...object, spec: { revisionHistoryLimit: 10, progressDeadlineSeconds: 600, ...spec, strategy } };
  },
  validate: validateWorkload,
};

export const replicaSet: Kind = {
  ...apps,
  categories: ["all"],
  kind: "ReplicaSet",
  plural: "replicasets",
  singular: "replicaset",
  shortNames: ["rs"],
  type: "api.apps.v1.ReplicaSet",
  storage: "replicasets",
  columns: [
    nameColumn,
    { name: "Desired", type: "integer", cell: (object) => specOf(object).replicas ?? 0 },
    { name: "Current", type: "integer", cell: (object) => statusNumber(object, "replicas") },
    { name: "Ready", type: "integer", cell: (object) => statusNumber(object, "readyReplicas") },
    ageColumn,
    ...wideColumns,
  ],
  selectable: { "status.replicas": (object) => String(statusNumber(object, "replicas")) },
  defaults: (object) => ({
    ...object,
    spec: defaultSpec(object),
    status: { replicas: 0, ...section(object, "status") },
  }),
  validate: validateWorkload,
};
