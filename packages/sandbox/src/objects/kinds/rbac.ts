/**
 * Role, ClusterRole and their bindings. access/authorizer.ts reads them; access/role-escalation.ts guards writes to
 * them.
 */
import { ageColumn, type Column, type Kind, nameColumn, section } from "../kind.ts";
import { isPathSegment } from "../name-rules.ts";
import type { ApiObject, JsonObject } from "../object.ts";
import { equal } from "../object.ts";
import { type FieldError, field } from "../status.ts";

const rbacGroup = "rbac.authorization.k8s.io";

const rbac = {
  group: rbacGroup,
  version: "v1",
  name: isPathSegment,
  createOnUpdate: true,
} as const;

const createdAt: Column = {
  name: "Created At",
  type: "date",
  cell: (object) => object.metadata.creationTimestamp ?? "<unknown>",
};

export interface PolicyRule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

function validateRules(object: ApiObject, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, rule] of ((object.rules ?? []) as PolicyRule[]).entries()) {
    const path = `rules[${index}]`;
    if (!rule.verbs?.length)
      errors.push(field.required(`${path}.verbs`, "verbs must contain at least one value"));
    if (rule.nonResourceURLs?.length) {
      if (namespaced) {
        const why = "namespaced rules cannot apply to non-resource URLs";
        errors.push(field.invalid(`${path}.nonResourceURLs`, rule.nonResourceURLs, why));
      }
      if (rule.apiGroups?.length || rule.resources?.length || rule.resourceNames?.length) {
        const why = "rules cannot apply to both regular resources and non-resource URLs";
        errors.push(field.invalid(`${path}.nonResourceURLs`, rule.nonResourceURLs, why));
      }
      continue;
    }
    if (!rule.apiGroups?.length) {
      errors.push(field.required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
    }
    if (!rule.resources?.length) {
      errors.push(field.required(`${path}.resources`, "resource rules must supply at least one resource"));
    }
  }
  return errors;
}

export const role: Kind = {
  ...rbac,
  kind: "Role",
  plural: "roles",
  singular: "role",
  namespaced: true,
  type: "api.rbac.v1.Role",
  storage: "roles",
  columns: [nameColumn, createdAt],
  validate: (object) => validateRules(object, true),
};

export const clusterRole: Kind = {
  ...rbac,
  kind: "ClusterRole",
  plural: "clusterroles",
  singular: "clusterrole",
  namespaced: false,
  type: "api.rbac.v1.ClusterRole",
  storage: "clusterroles",
  columns: [nameColumn, createdAt],
  validate: (object) => validateRules(object, false),
};

export interface RbacSubject {
  kind: string;
  apiGroup?: string;
  name: string;
  namespace?: string;
}

const subjectsOf = (object: ApiObject) => (object.subjects ?? []) as RbacSubject[];

/** Fills in API groups: users, groups and roles belong to the RBAC group, ServiceAccounts to the core group. */
function defaultBinding(object: ApiObject): ApiObject {
  const subjects = subjectsOf(object).map((subject) =>
    subject.apiGroup === undefined && subject.kind !== "ServiceAccount"
      ? { ...subject, apiGroup: rbacGroup }
      : subject,
  );
  const roleRef = { ...(object.roleRef as JsonObject) };
  if (!roleRef.apiGroup) roleRef.apiGroup = rbacGroup;
  return { ...object, ...(subjects.length > 0 ? { subjects } : {}), roleRef };
}

function validateBinding(object: ApiObject, old: ApiObject | undefined, kinds: string[]): FieldError[] {
  const errors: FieldError[] = [];
  const ref = object.roleRef as JsonObject;
  if (old && !equal(ref, old.roleRef)) {
    const shown = { APIGroup: ref.apiGroup, Kind: ref.kind, Name: ref.name };
    return [field.invalid("roleRef", shown, "cannot change roleRef")];
  }
  if (ref.apiGroup !== rbacGroup)
    errors.push(field.notSupported("roleRef.apiGroup", ref.apiGroup, [rbacGroup]));
  if (!kinds.includes(String(ref.kind))) errors.push(field.notSupported("roleRef.kind", ref.kind, kinds));
  if (!ref.name) errors.push(field.required("roleRef.name"));
  for (const [index, subject] of subjectsOf(object).entries()) {
    const path = `subjects[${index}]`;
    if (!subject.name) errors.push(field.required(`${path}.name`));
    if (subject.kind === "ServiceAccount") {
      if (subject.apiGroup) errors.push(field.notSupported(`${path}.apiGroup`, subject.apiGroup, [""]));
      if (!subject.namespace && !object.metadata.namespace) errors.push(field.required(`${path}.namespace`));
    } else if (subject.kind !== "User" && subject.kind !== "Group") {
      errors.push(field.notSupported(`${path}.kind`, subject.kind, ["ServiceAccount", "User", "Group"]));
    } else if (subject.apiGroup !== rbacGroup) {
      errors.push(field.notSupported(`${path}.apiGroup`, subject.apiGroup, [rbacGroup]));
    }
  }
  return errors;
}

function subjectsColumn(name: string, kind: string): Column {
  const print = ({ namespace, name: subject }: RbacSubject) =>
    kind === "ServiceAccount" ? `${namespace}/${subject}` : subject;
  return {
    name,
    priority: 1,
    cell: (object) =>
      subjectsOf(object)
        .filter((subject) => subject.kind === kind)
        .map(print)
        .join(", "),
  };
}

const bindingColumns: Column[] = [
  nameColumn,
  { name: "Role", cell: (object) => `${section(object, "roleRef").kind}/${section(object, "roleRef").name}` },
  ageColumn,
  subjectsColumn("Users", "User"),
  subjectsColumn("Groups", "Group"),
  subjectsColumn("ServiceAccounts", "ServiceAccount"),
];

export const roleBinding: Kind = {
  ...rbac,
  kind: "RoleBinding",
  plural: "rolebindings",
  singular: "rolebinding",
  namespaced: true,
  type: "api.rbac.v1.RoleBinding",
  storage: "rolebindings",
  columns: bindingColumns,
  defaults: defaultBinding,
  validate: (object, old) => validateBinding(object, old, ["Role", "ClusterRole"]),
};

export const clusterRoleBinding: Kind = {
  ...rbac,
  kind: "ClusterRoleBinding",
  plural: "clusterrolebindings",
  singular: "clusterrolebinding",
  namespaced: false,
  type: "api.rbac.v1.ClusterRoleBinding",
  storage: "clusterrolebindings",
  columns: bindingColumns,
  defaults: defaultBinding,
  validate: (object, old) => validateBinding(object, old, ["ClusterRole"]),
};
