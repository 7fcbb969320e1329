/** PodDisruptionBudget, and the policies and webhooks of admission. Webhooks and policies are stored, not enforced. */
import { type Kind, section } from "../kind.ts";
import type { ApiObject, JsonObject } from "../object.ts";
import { type FieldError, field } from "../status.ts";
import { declare, defaulting, fieldColumn, withColumns } from "./declare.ts";

export const podDisruptionBudget: Kind = declare({
  group: "policy",
  kind: "PodDisruptionBudget",
  shortNames: ["pdb"],
  status: true,
  generation: true,
  unconditionalUpdate: false,
  columns: withColumns(
    fieldColumn("Min Available", "spec.minAvailable", "N/A"),
    fieldColumn("Max Unavailable", "spec.maxUnavailable", "N/A"),
    {
      name: "Allowed Disruptions",
      type: "integer",
      cell: (object) => section(object, "status").disruptionsAllowed ?? 0,
    },
  ),
  defaults: defaulting("status", {
    disruptionsAllowed: 0,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
  }),
  validate(object) {
    const { minAvailable, maxUnavailable } = section(object, "spec");
    const errors: FieldError[] = [];
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      const why = "minAvailable and maxUnavailable cannot be both set";
      errors.push(field.invalid("spec", section(object, "spec"), why));
    }
    for (const [name, value] of Object.entries({ minAvailable, maxUnavailable })) {
      if (value === undefined) continue;
      errors.push(...validateIntOrPercent(`spec.${name}`, value));
    }
    return errors;
  },
});

function validateIntOrPercent(path: string, value: unknown): FieldError[] {
  if (typeof value === "number")
    return value < 0 ? [field.invalid(path, value, "must be greater than or equal to 0")] : [];
  const match = /^(\d+)%$/.exec(String(value));
  if (match === null) {
    const why =
      "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%', regex used for validation is '[0-9]+%')";
    return [field.invalid(path, value, why)];
  }
  return Number(match[1]) > 100 ? [field.invalid(path, value, "must not be greater than 100%")] : [];
}

const admission = {
  group: "admissionregistration.k8s.io",
  categories: ["api-extensions"] as string[],
  namespaced: false,
  generation: true,
  unconditionalUpdate: false,
} as const;

const matchDefaults = { matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {} };
const withScope = (rule: JsonObject) => ({ ...rule, scope: rule.scope ?? "*" });

/** Fills in the parts of a rule set that match everything. */
function defaultMatch(match: JsonObject | undefined): JsonObject | undefined {
  if (!match) return undefined;
  const out: JsonObject = { ...matchDefaults, ...match };
  for (const name of ["resourceRules", "excludeResourceRules"])
    if (match[name]) out[name] = (match[name] as JsonObject[]).map(withScope);
  return out;
}

export const validatingAdmissionPolicy: Kind = declare({
  ...admission,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  status: true,
  statusKeeps: ["metadata"],
  columns: withColumns(
    {
      name: "Validations",
      type: "integer",
      cell: (object) => ((section(object, "spec").validations ?? []) as unknown[]).length,
    },
    fieldColumn("ParamKind", "spec.paramKind.kind", "<unset>"),
  ),
  defaults(object) {
    const spec = section(object, "spec");
    const matchConstraints = defaultMatch(spec.matchConstraints as JsonObject | undefined);
    return {
      ...object,
      spec: { failurePolicy: "Fail", ...spec, ...(matchConstraints ? { matchConstraints } : {}) },
    };
  },
  validate(object) {
    const { matchConstraints, validations, auditAnnotations } = section(object, "spec");
    const errors: FieldError[] = [];
    if (!matchConstraints) errors.push(field.required("spec.matchConstraints"));
    if (!(validations as unknown[] | undefined)?.length && !(auditAnnotations as unknown[])?.length) {
      const why = "validations or auditAnnotations must contain at least one item";
      errors.push(field.required("spec.validations", why));
    }
    return errors;
  },
});

export const validatingAdmissionPolicyBinding: Kind = declare({
  ...admission,
  kind: "ValidatingAdmissionPolicyBinding",
  columns: withColumns(
    fieldColumn("PolicyName", "spec.policyName"),
    fieldColumn("ParamRef", "spec.paramRef.name", "<unset>"),
  ),
  defaults(object) {
    const spec = section(object, "spec");
    const matchResources = defaultMatch(spec.matchResources as JsonObject | undefined);
    return { ...object, spec: { ...spec, ...(matchResources ? { matchResources } : {}) } };
  },
  validate(object) {
    const { policyName, validationActions } = section(object, "spec");
    const errors: FieldError[] = [];
    if (!policyName) errors.push(field.required("spec.policyName"));
    if (!(validationActions as unknown[] | undefined)?.length)
      errors.push(field.required("spec.validationActions"));
    return errors;
  },
});

/** The defaults of one webhook. */
function defaultWebhook(webhook: JsonObject): JsonObject {
  const config = webhook.clientConfig as { service?: JsonObject } | undefined;
  const clientConfig = config?.service ? { ...config, service: { port: 443, ...config.service } } : config;
  return {
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    ...matchDefaults,
    ...webhook,
    ...(clientConfig ? { clientConfig } : {}),
    ...(webhook.rules ? { rules: (webhook.rules as JsonObject[]).map(withScope) } : {}),
  };
}

const withWebhooks = (more: JsonObject) => (object: ApiObject) =>
  object.webhooks
    ? {
        ...object,
        webhooks: (object.webhooks as JsonObject[]).map((hook) => ({ ...more, ...defaultWebhook(hook) })),
      }
    : object;

const webhooksColumn = {
  name: "Webhooks",
  type: "integer" as const,
  cell: (object: ApiObject) => ((object.webhooks ?? []) as unknown[]).length,
};

export const validatingWebhookConfiguration: Kind = declare({
  ...admission,
  kind: "ValidatingWebhookConfiguration",
  columns: withColumns(webhooksColumn),
  defaults: withWebhooks({}),
});

export const mutatingWebhookConfiguration: Kind = declare({
  ...admission,
  kind: "MutatingWebhookConfiguration",
  columns: withColumns(webhooksColumn),
  defaults: withWebhooks({ reinvocationPolicy: "Never" }),
});
