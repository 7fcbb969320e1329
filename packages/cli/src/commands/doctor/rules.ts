/** Rules of RBAC: their differences, and the manifests that grant them. Pure. */
import { hashOfKey } from "@tenure/core";
import { formatRule, type RbacRule } from "@tenure/kube/internal";

export type ResourceRule = Extract<RbacRule, { resources: string[] }>;

/** One rule for each verb, resource and name, because an access review covers only one. */
export function singleRules(rules: readonly RbacRule[]): ResourceRule[] {
  return rules
    .filter((rule): rule is ResourceRule => "resources" in rule)
    .flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          (resourceNames ?? [undefined]).map((name) => ({
            apiGroups,
            resources: [resource],
            ...(name !== undefined && { resourceNames: [name] }),
            verbs: [verb],
          })),
        ),
      ),
    );
}

/** Merges rules that differ only in their verbs. */
export function mergeRules(rules: readonly ResourceRule[]): ResourceRule[] {
  const byRest = new Map<string, ResourceRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rest);
    const before = byRest.get(key);
    byRest.set(key, before ? { ...rule, verbs: [...before.verbs, ...verbs] } : rule);
  }
  return [...byRest.values()];
}

/** What the rules allow: `create leases; get, update leases "billing"`. */
export function describeRules(rules: readonly ResourceRule[]): string {
  return rules
    .map(
      ({ verbs, resources, resourceNames }) =>
        `${verbs.join(", ")} ${resources[0]}${resourceNames ? ` "${resourceNames[0]}"` : ""}`,
    )
    .join("; ");
}

/** As the part `rules` of a Role. */
export function rulesYaml(rules: readonly ResourceRule[]): string {
  return ["rules:", ...rules.map((rule) => `  - ${formatRule(rule)}`)].join("\n");
}

/** A Role with these rules, and its binding to a user. The name depends on the rules, so it never replaces another Role. */
export function grantManifests(
  user: string,
  namespace: string,
  rules: readonly ResourceRule[],
): [role: string, binding: string] {
  const [, accountNamespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  const subject =
    account === undefined
      ? `{kind: User, apiGroup: rbac.authorization.k8s.io, name: ${JSON.stringify(user)}}`
      : `{kind: ServiceAccount, name: ${account}, namespace: ${accountNamespace}}`;
  const name = `election-${hashOfKey(JSON.stringify([user, rules]))
    .toString(16)
    .padStart(16, "0")}`;
  const object = (kind: string) => [
    "apiVersion: rbac.authorization.k8s.io/v1",
    `kind: ${kind}`,
    `metadata: {name: ${name}, namespace: ${namespace}}`,
  ];
  return [
    [...object("Role"), rulesYaml(rules)].join("\n"),
    [
      ...object("RoleBinding"),
      `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ${name}}`,
      `subjects: [${subject}]`,
    ].join("\n"),
  ];
}
