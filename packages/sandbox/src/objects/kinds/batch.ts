/** Job and CronJob. The API only stores them. Controllers act on them. */
import { type Kind, section } from "../kind.ts";
import type { ApiObject, JsonObject, ObjectMeta } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { declare, fieldColumn, withColumns } from "./declare.ts";
import { defaultPodSpec, type PodSpec, validatePodSpec } from "./pod-template.ts";

interface JobSpec extends JsonObject {
  template?: { metadata?: ObjectMeta; spec?: PodSpec };
  selector?: { matchLabels?: Record<string, string> };
}

const unlimited = 2 ** 31 - 1;

function defaultJobSpec(spec: JobSpec): JobSpec {
  const { completions, parallelism } = spec;
  return {
    ...(completions === undefined && parallelism === undefined ? { completions: 1 } : {}),
    parallelism: 1,
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : unlimited,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed",
    ...spec,
    template: { ...spec.template, spec: defaultPodSpec(spec.template?.spec ?? {}) },
  };
}

/** Pods of a job are found by the uid of the job, unless the user sets a selector. */
function withSelector(spec: JobSpec, { name = "", uid = "" }: ObjectMeta): JobSpec {
  const uidLabel = "batch.kubernetes.io/controller-uid";
  const labels = {
    [uidLabel]: uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
    ...spec.template?.metadata?.labels,
  };
  return {
    ...spec,
    selector: { ...spec.selector, matchLabels: { [uidLabel]: uid, ...spec.selector?.matchLabels } },
    template: { ...spec.template, metadata: { ...spec.template?.metadata, labels } },
  };
}

function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished"]) {
    if (Number(spec[name] ?? 0) < 0)
      errors.push(field.invalid(`${path}.${name}`, spec[name], "must be greater than or equal to 0"));
  }
  errors.push(...validatePodSpec(spec.template?.spec ?? {}, `${path}.template.spec`));
  const policy = spec.template?.spec?.restartPolicy;
  if (policy === "Always") {
    const why = `Unsupported value: "Always": supported values: "OnFailure", "Never"`;
    const at = `${path}.template.spec.restartPolicy`;
    errors.push({ reason: "FieldValueNotSupported", message: why, field: at });
  }
  return errors;
}

export const job: Kind = declare({
  group: "batch",
  kind: "Job",
  categories: ["all"],
  status: true,
  generation: true,
  selectable: { "status.successful": (object) => String(section(object, "status").succeeded ?? 0) },
  columns: withColumns(
    { name: "Status", cell: jobStatus },
    {
      name: "Completions",
      cell: (object) => {
        const { completions, parallelism } = section(object, "spec");
        const done = section(object, "status").succeeded ?? 0;
        return `${done}/${completions ?? `1 of ${parallelism}`}`;
      },
    },
  ),
  defaults(object, old) {
    const given = section(object, "spec") as JobSpec;
    const spec = { manualSelector: false, ...defaultJobSpec(given) } as JobSpec;
    const complete = old || spec.manualSelector ? spec : withSelector(spec, object.metadata);
    const inherits = !object.metadata.labels && given.template?.metadata?.labels;
    const labels = complete.template?.metadata?.labels;
    const metadata = { ...object.metadata, ...(inherits && labels ? { labels } : {}) };
    return { ...object, metadata, spec: complete };
  },
  validate: (object) => validateJobSpec(section(object, "spec") as JobSpec, "spec"),
});

function jobStatus(object: ApiObject): string {
  const conditions = (section(object, "status").conditions ?? []) as { type: string; status: string }[];
  const found = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"].find((type) =>
    conditions.some((condition) => condition.type === type && condition.status === "True"),
  );
  if (found && ["Complete", "Failed", "Suspended"].includes(found)) return found;
  return object.metadata.deletionTimestamp ? "Terminating" : (found ?? "Running");
}

export const cronJob: Kind = declare({
  group: "batch",
  kind: "CronJob",
  shortNames: ["cj"],
  categories: ["all"],
  status: true,
  generation: true,
  columns: withColumns(
    fieldColumn("Schedule", "spec.schedule"),
    fieldColumn("Timezone", "spec.timeZone"),
    fieldColumn("Suspend", "spec.suspend"),
    {
      name: "Active",
      type: "integer",
      cell: (object) => ((section(object, "status").active ?? []) as unknown[]).length,
    },
    {
      name: "Last Schedule",
      cell: (object, age) => {
        const time = section(object, "status").lastScheduleTime;
        return time ? age(time) : "<none>";
      },
    },
  ),
  defaults(object) {
    const given = section(object, "spec");
    const template = (given.jobTemplate ?? {}) as { spec?: JobSpec };
    return {
      ...object,
      spec: {
        concurrencyPolicy: "Allow",
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        ...given,
        jobTemplate: { ...template, spec: cronTemplate(template.spec ?? {}) },
      },
    };
  },
  validate(object) {
    const { schedule, jobTemplate } = section(object, "spec");
    const template = jobTemplate as { spec?: JobSpec } | undefined;
    return [
      ...(schedule ? [] : [field.required("spec.schedule")]),
      ...validateJobSpec(template?.spec ?? {}, "spec.jobTemplate.spec"),
    ];
  },
});

/** A template is not a job yet, so Kubernetes fills in only its pods. */
const cronTemplate = (spec: JobSpec): JobSpec => ({
  ...spec,
  template: { ...spec.template, spec: defaultPodSpec(spec.template?.spec ?? {}) },
});
