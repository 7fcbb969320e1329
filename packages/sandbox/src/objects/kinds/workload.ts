/** Deployment, ReplicaSet, StatefulSet and DaemonSet. The API only stores them. Controllers act on them. */
import { ageColumn, type Column, formatLabels, joined, type Kind, nameColumn, section } from "../kind.ts";
import { type LabelSelector, matchesLabels } from "../label-selector.ts";
import { isDnsSubdomain } from "../name-rules.ts";
import type { ApiObject, JsonObject, ObjectMeta } from "../object.ts";
import { equal } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";
import { declare } from "./declare.ts";
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

/** The fields of a DaemonSet's status, in the order of the columns. */
const daemonCounts = [
  "desiredNumberScheduled",
  "currentNumberScheduled",
  "numberReady",
  "updatedNumberScheduled",
  "numberAvailable",
];

const apps = {
  group: "apps",
  version: "v1",
  namespaced: true,
  name: isDnsSubdomain,
  status: true,
  generation: true,
  categories: ["all"] as string[],
} as const;

function defaultTemplate(object: ApiObject): WorkloadSpec {
  const spec = specOf(object);
  return { ...spec, template: { ...spec.template, spec: defaultPodSpec(spec.template?.spec ?? {}) } };
}

function defaultSpec(object: ApiObject): WorkloadSpec {
  const spec = defaultTemplate(object);
  return { ...spec, replicas: spec.replicas ?? 1 };
}

const validateWorkload = validateAs("deployment");

/** `name` is what error messages call the kind. */
function validateAs(name: string): NonNullable<Kind["validate"]> {
  return (object, old) => validateNamed(name, object, old);
}

function validateNamed(name: string, object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const { replicas, selector, template } = specOf(object);
  const errors: FieldError[] = [];
  if (replicas !== undefined && replicas < 0) {
    errors.push(field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  const empty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  if (!selector || Object.keys(selector).length === 0) errors.push(field.required("spec.selector"));
  if (selector && Object.keys(selector).length > 0 && empty) {
    errors.push(field.invalid("spec.selector", selector, `empty selector is invalid for ${name}`));
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
  statusKeeps: ["labels"],
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

export const statefulSet: Kind = declare({
  ...apps,
  kind: "StatefulSet",
  shortNames: ["sts"],
  columns: [
    nameColumn,
    {
      name: "Ready",
      cell: (object) => `${statusNumber(object, "readyReplicas")}/${specOf(object).replicas ?? 0}`,
    },
    ageColumn,
    ...wideColumns.slice(0, 2),
  ],
  defaults(object) {
    const spec = defaultSpec(object);
    const updateStrategy = { type: "RollingUpdate", ...(spec.updateStrategy as JsonObject) } as JsonObject;
    if (updateStrategy.type === "RollingUpdate")
      updateStrategy.rollingUpdate = { partition: 0, ...(updateStrategy.rollingUpdate as JsonObject) };
    const claims = spec.volumeClaimTemplates as JsonObject[] | undefined;
    return {
      ...object,
      spec: {
        podManagementPolicy: "OrderedReady",
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        ...spec,
        updateStrategy,
        ...(claims ? { volumeClaimTemplates: claims.map(defaultClaimTemplate) } : {}),
      },
      status: { replicas: 0, availableReplicas: 0, ...section(object, "status") },
    };
  },
  validate: validateAs("statefulset"),
});

const defaultClaimTemplate = (claim: JsonObject) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  ...claim,
  spec: { volumeMode: "Filesystem", ...(claim.spec as JsonObject) },
  status: { phase: "Pending" },
});

export const daemonSet: Kind = declare({
  ...apps,
  kind: "DaemonSet",
  shortNames: ["ds"],
  columns: [
    nameColumn,
    ...["Desired", "Current", "Ready", "Up-to-date", "Available"].map((name, index): Column => {
      const field = daemonCounts[index] as string;
      return { name, type: "integer", cell: (object) => statusNumber(object, field) };
    }),
    {
      name: "Node Selector",
      cell: (object) => formatLabels(specOf(object).template?.spec?.nodeSelector),
    },
    ageColumn,
    ...wideColumns,
  ],
  defaults(object, old) {
    const spec = defaultTemplate(object);
    const updateStrategy = { type: "RollingUpdate", ...(spec.updateStrategy as JsonObject) } as JsonObject;
    if (updateStrategy.type === "RollingUpdate") {
      updateStrategy.rollingUpdate = {
        maxUnavailable: 1,
        maxSurge: 0,
        ...(updateStrategy.rollingUpdate as JsonObject),
      };
    }
    const annotations = { ...object.metadata.annotations, [templateGeneration]: countTemplate(spec, old) };
    const metadata = { ...object.metadata, annotations };
    return { ...object, metadata, spec: { revisionHistoryLimit: 10, ...spec, updateStrategy } };
  },
  validate: validateAs("daemonset"),
});

const templateGeneration = "deprecated.daemonset.template.generation";

/** Counts the changes of the template. Older clients read it. */
function countTemplate(spec: WorkloadSpec, old: ApiObject | undefined): string {
  const before = Number(old?.metadata.annotations?.[templateGeneration] ?? 0);
  const same = old !== undefined && equal(specOf(old).template, spec.template);
  return String(same ? before : before + 1);
}
