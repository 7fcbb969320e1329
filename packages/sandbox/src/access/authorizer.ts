/**
 * RBAC authorization: decides whether a user may make a request. It reads the roles from the store for each decision,
 * so a change to a role takes effect with the next request. The group system:masters may do everything, as in
 * Kubernetes.
 */
import { keyOf, prefixOf } from "../objects/kind.ts";
import {
  clusterRole,
  clusterRoleBinding,
  type PolicyRule,
  type RbacSubject,
  role,
  roleBinding,
} from "../objects/kinds/rbac.ts";
import type { ApiObject } from "../objects/object.ts";
import { qualified } from "../objects/status.ts";
import type { Store } from "../store/store.ts";
import { type Attributes, ruleAllows } from "./rules.ts";
import type { User } from "./user.ts";

interface AuthorizationDecision {
  allowed: boolean;
  reason: string;
}

export interface Authorizer {
  authorize(user: User, attributes: Attributes): AuthorizationDecision;
  /** The rules that apply to a user in a namespace, and the roles that could not be found. */
  rules(user: User, namespace: string): { rules: PolicyRule[]; errors: string[] };
}

interface Grant {
  rules: PolicyRule[];
  reason: string;
}

export function createAuthorizer(store: Store): Authorizer {
  function authorize(user: User, attributes: Attributes): AuthorizationDecision {
    if (user.groups.includes("system:masters")) return { allowed: true, reason: "" };
    for (const { rules, reason } of grants(user, attributes.namespace, [])) {
      if (rules.some((rule) => ruleAllows(rule, attributes))) return { allowed: true, reason };
    }
    return { allowed: false, reason: "" };
  }

  /** Yields cluster-wide grants first, then the grants of the namespace. */
  function* grants(user: User, namespace: string, errors: string[]): Generator<Grant> {
    for (const { value } of store.list(prefixOf(clusterRoleBinding, ""))) {
      const subject = findSubject(value, user, "");
      if (!subject) continue;
      const rules = rulesOf(value, "", errors);
      if (rules) yield { rules, reason: explain("ClusterRoleBinding", value, subject) };
    }
    if (!namespace) return;
    for (const { value } of store.list(prefixOf(roleBinding, namespace))) {
      const subject = findSubject(value, user, namespace);
      if (!subject) continue;
      const rules = rulesOf(value, namespace, errors);
      if (rules) yield { rules, reason: explain("RoleBinding", value, subject) };
    }
  }

  function rulesOf(binding: ApiObject, namespace: string, errors: string[]): PolicyRule[] | undefined {
    const ref = binding.roleRef as { kind: string; name: string };
    const found = store.get(
      ref.kind === "Role" ? keyOf(role, namespace, ref.name) : keyOf(clusterRole, "", ref.name),
    );
    if (!found) {
      const kind = ref.kind === "Role" ? role : clusterRole;
      errors.push(
        `${qualified({ group: kind.group, resource: kind.plural.slice(0, -1) })} "${ref.name}" not found`,
      );
      return undefined;
    }
    return (found.value.rules ?? []) as PolicyRule[];
  }

  return {
    authorize,
    rules(user, namespace) {
      const errors: string[] = [];
      const rules = user.groups.includes("system:masters")
        ? [
            { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
            { verbs: ["*"], nonResourceURLs: ["*"] },
          ]
        : [...grants(user, namespace, errors)].flatMap((grant) => grant.rules);
      return { rules, errors };
    },
  };
}

function findSubject(binding: ApiObject, user: User, namespace: string): RbacSubject | undefined {
  return ((binding.subjects ?? []) as RbacSubject[]).find((subject) => {
    if (subject.kind === "User") return subject.name === user.name;
    if (subject.kind === "Group") return user.groups.includes(subject.name);
    return user.name === `system:serviceaccount:${subject.namespace || namespace}:${subject.name}`;
  });
}

function explain(kind: string, binding: ApiObject, subject: RbacSubject): string {
  const ref = binding.roleRef as { kind: string; name: string };
  const { name, namespace } = binding.metadata;
  const who = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace}` : subject.name;
  const what = namespace ? `${name}/${namespace}` : name;
  return `RBAC: allowed by ${kind} "${what}" of ${ref.kind} "${ref.name}" to ${subject.kind} "${who}"`;
}

/** Says what the user may not do, in the words that kubectl shows. */
export function explainDenial(
  user: User,
  { verb, group, resource, subresource, namespace, path }: Attributes,
): string {
  if (path !== undefined) return `User "${user.name}" cannot ${verb} path "${path}"`;
  const what = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace ? `in the namespace "${namespace}"` : "at the cluster scope";
  return `User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${where}`;
}
