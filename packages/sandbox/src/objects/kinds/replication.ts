/** ReplicationController, PodTemplate, ControllerRevision and HorizontalPodAutoscaler. They are only stored. */
import { formatLabels, type Kind, section } from "../kind.ts";
import { matchesLabels } from "../label-selector.ts";
import { type ApiObject, at, equal, type JsonObject, type ObjectMeta } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { immutable } from "../validate.ts";
import { declare, fieldColumn, withColumns } from "./declare.ts";
import { defaultPodSpec, type PodSpec, validatePodSpec } from "./pod-template.ts";

interface Template {
  metadata?: ObjectMeta;
  spec?: PodSpec;
}

interface ControllerSpec extends JsonObject {
  replicas?: number;
  selector?: Record<string, string>;
  template?: Template;
}

const defaultTemplate = (template: Template | undefined) => ({
  ...template,
  spec: defaultPodSpec(template?.spec ?? {}),
});

const specOf = (object: ApiObject) => section(object, "spec") as ControllerSpec;

export const replicationController: Kind = declare({
  group: "",
  kind: "ReplicationController",
  shortNames: ["rc"],
  categories: ["all"],
  storage: "controllers",
  status: true,
  generation: true,
  columns: withColumns(
    { name: "Desired", type: "integer", cell: (object) => specOf(object).replicas ?? 0 },
    { name: "Current", type: "integer", cell: (object) => section(object, "status").replicas ?? 0 },
    { name: "Ready", type: "integer", cell: (object) => section(object, "status").readyReplicas ?? 0 },
  ),
  selectable: { "status.replicas": (object) => String(section(object, "status").replicas ?? 0) },
  defaults(object) {
    const spec = specOf(object);
    const template = defaultTemplate(spec.template);
    const labels = spec.template?.metadata?.labels;
    const metadata = {
      ...object.metadata,
      ...(labels && !object.metadata.labels ? { labels } : {}),
    };
    const selector = spec.selector ?? labels;
    return {
      ...object,
      metadata,
      spec: { ...spec, replicas: spec.replicas ?? 1, ...(selector ? { selector } : {}), template },
      status: { replicas: 0, ...section(object, "status") },
    };
  },
  validate(object) {
    const { replicas = 0, selector = {}, template } = specOf(object);
    const labels = template?.metadata?.labels ?? {};
    const errors: FieldError[] = [];
    if (replicas < 0)
      errors.push(field.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
    if (Object.keys(selector).length === 0) errors.push(field.required("spec.selector"));
    else if (!matchesLabels({ matchLabels: selector }, labels)) {
      const why = "`selector` does not match template `labels`";
      errors.push(field.invalid("spec.template.metadata.labels", labels, why));
    }
    return [...errors, ...validatePodSpec(template?.spec ?? {}, "spec.template.spec")];
  },
});

const containersOf = (object: ApiObject) =>
  (at(object, "template", "spec", "containers") ?? []) as { name?: string; image?: string }[];

export const podTemplate: Kind = declare({
  group: "",
  kind: "PodTemplate",
  generation: true,
  columns: withColumns(
    { name: "Containers", cell: (object) => joined(object, "name") },
    { name: "Images", cell: (object) => joined(object, "image") },
    { name: "Pod Labels", cell: (object) => formatLabels(at(object, "template", "metadata", "labels")) },
  ),
  defaults: (object) => ({ ...object, template: defaultTemplate(object.template as Template) }),
  validate: (object) => validatePodSpec((object.template as Template).spec ?? {}, "template.spec"),
});

const joined = (object: ApiObject, field: "name" | "image") =>
  containersOf(object)
    .map((container) => container[field])
    .join(",");

export const controllerRevision: Kind = declare({
  group: "apps",
  kind: "ControllerRevision",
  columns: withColumns(
    {
      name: "Controller",
      cell: ({ metadata }) => {
        const owner = metadata.ownerReferences?.find(({ controller }) => controller);
        if (!owner) return "<none>";
        const group = owner.apiVersion.includes("/") ? `.${owner.apiVersion.split("/")[0]}` : "";
        return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
      },
    },
    fieldColumn("Revision", "revision"),
  ),
  validate(object, old) {
    const errors: FieldError[] = [];
    const revision = Number(object.revision ?? 0);
    if (revision < 0) errors.push(field.invalid("revision", revision, "must be greater than or equal to 0"));
    if (object.data === undefined) errors.push(field.required("data", "data is mandatory"));
    if (old && !equal(object.data, old.data)) errors.push(immutable("data", object.data));
    return errors;
  },
});

export const horizontalPodAutoscaler: Kind = declare({
  group: "autoscaling",
  version: "v2",
  kind: "HorizontalPodAutoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  status: true,
  columns: withColumns(
    {
      name: "Reference",
      cell: (object) => {
        const target = (section(object, "spec").scaleTargetRef ?? {}) as Record<string, string>;
        return `${target.kind}/${target.name}`;
      },
    },
    fieldColumn("MinPods", "spec.minReplicas", "<unset>"),
    fieldColumn("MaxPods", "spec.maxReplicas"),
    fieldColumn("Replicas", "status.currentReplicas", 0),
  ),
  defaults(object) {
    const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } };
    const spec = {
      minReplicas: 1,
      metrics: [{ type: "Resource", resource: cpu }],
      ...section(object, "spec"),
    };
    return { ...object, spec, status: { currentMetrics: null, ...section(object, "status") } };
  },
  validate(object) {
    const { minReplicas, maxReplicas, scaleTargetRef } = section(object, "spec") as {
      minReplicas?: number;
      maxReplicas?: number;
      scaleTargetRef?: { kind?: string; name?: string };
    };
    const errors: FieldError[] = [];
    if (minReplicas !== undefined && minReplicas < 1)
      errors.push(field.invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1"));
    if (!maxReplicas || maxReplicas < 1)
      errors.push(field.invalid("spec.maxReplicas", maxReplicas ?? 0, "must be greater than 0"));
    else if (minReplicas !== undefined && maxReplicas < minReplicas) {
      const why = "must be greater than or equal to `minReplicas`";
      errors.push(field.invalid("spec.maxReplicas", maxReplicas, why));
    }
    if (!scaleTargetRef?.kind) errors.push(field.required("spec.scaleTargetRef.kind"));
    if (!scaleTargetRef?.name) errors.push(field.required("spec.scaleTargetRef.name"));
    return errors;
  },
});
