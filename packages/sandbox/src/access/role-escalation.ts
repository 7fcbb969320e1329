/**
 * Prevents privilege escalation: users can write a role or a binding only if they already hold every rule that it
 * grants. The verbs "escalate" (for roles) and "bind" (for bindings) lift this restriction.
 */
import { type Kind, keyOf } from "../objects/kind.ts";
import {
  clusterRole,
  clusterRoleBinding,
  type PolicyRule,
  role,
  roleBinding,
} from "../objects/kinds/rbac.ts";
import { type ApiObject, equal } from "../objects/object.ts";
import { quote } from "../objects/quote.ts";
import { forbidden, notFound } from "../objects/status.ts";
import type { Store } from "../store/store.ts";
import type { Authorizer } from "./authorizer.ts";
import { type Attributes, ruleAllows } from "./rules.ts";
import type { User } from "./user.ts";

interface RoleWrite {
  store: Store;
  authorizer: Authorizer;
  user: User;
  kind: Kind;
}

/** Checks one write. `old` is undefined when the object is created. Kinds other than the RBAC kinds pass. */
export function checkRoleEscalation(
  { store, authorizer, user, kind }: RoleWrite,
  object: ApiObject,
  old: ApiObject | undefined,
): void {
  const { namespace = "", name = "" } = object.metadata;
  const isBinding = kind === roleBinding || kind === clusterRoleBinding;
  if (!isBinding && kind !== role && kind !== clusterRole) return;
  if (old && equal({ ...old, metadata: {} }, { ...object, metadata: {} })) return;

  const ref = isBinding ? (object.roleRef as { kind: string; name: string }) : undefined;
  const target = ref ? (ref.kind === "Role" ? role : clusterRole) : kind;
  const attributes: Attributes = {
    verb: ref ? "bind" : "escalate",
    group: kind.group,
    version: "v1",
    resource: target.plural,
    namespace,
    name: ref?.name ?? name,
  };
  if (authorizer.authorize(user, attributes).allowed) return;
  const bound = ref && store.get(keyOf(target, namespace, ref.name));
  // Somebody else could later create the role with more permissions than this user has.
  if (ref && !bound) throw notFound({ group: kind.group, resource: kind.plural, name: ref.name });
  const wanted = bound ? bound.value.rules : object.rules;
  const held = authorizer.rules(user, namespace).rules;
  const missing = ((wanted ?? []) as PolicyRule[]).flatMap(single).filter((rule) => !covered(rule, held));
  if (missing.length === 0) return;
  const who = `user ${quote(user.name)} (groups=${goList(user.groups)})`;
  const list = compact(missing).map(printRule).sort().join("\n");
  throw forbidden(
    { group: kind.group, resource: kind.plural, name },
    `${who} is attempting to grant RBAC permissions not currently held:\n${list}`,
  );
}

const goList = (items: string[]) => `[${items.map((item) => quote(item)).join(" ")}]`;

/** Splits a rule into one rule for each verb, group, resource and name. */
function single(rule: PolicyRule): PolicyRule[] {
  const urls = (rule.nonResourceURLs ?? []).flatMap((url) =>
    rule.verbs.map((verb) => ({ verbs: [verb], nonResourceURLs: [url] })),
  );
  const names = rule.resourceNames?.length ? rule.resourceNames.map((name) => [name]) : [undefined];
  const resources = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      names.flatMap((resourceNames) =>
        rule.verbs.map((verb) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          ...(resourceNames ? { resourceNames } : {}),
        })),
      ),
    ),
  );
  return [...urls, ...resources];
}

/** Merges rules that differ only in their verbs. */
function compact(rules: PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify({ ...rule, verbs: undefined });
    const known = merged.get(key);
    merged.set(key, known ? { ...known, verbs: [...known.verbs, ...rule.verbs] } : rule);
  }
  return [...merged.values()];
}

function covered(rule: PolicyRule, held: PolicyRule[]): boolean {
  const [resource = "", subresource] = (rule.resources?.[0] ?? "").split("/");
  const attributes: Attributes = {
    verb: rule.verbs[0] as string,
    group: rule.apiGroups?.[0] ?? "",
    version: "",
    resource,
    ...(subresource ? { subresource } : {}),
    namespace: "",
    name: rule.resourceNames?.[0] ?? "",
    ...(rule.nonResourceURLs ? { path: rule.nonResourceURLs[0] as string } : {}),
  };
  return held.some(
    (own) => (rule.resourceNames || !own.resourceNames?.length) && ruleAllows(own, attributes),
  );
}

function printRule(rule: PolicyRule): string {
  if (rule.nonResourceURLs)
    return `{NonResourceURLs:${goList(rule.nonResourceURLs)}, Verbs:${goList(rule.verbs)}}`;
  const names = rule.resourceNames ? `, ResourceNames:${goList(rule.resourceNames)}` : "";
  return `{APIGroups:${goList(rule.apiGroups ?? [])}, Resources:${goList(rule.resources ?? [])}${names}, Verbs:${goList(rule.verbs)}}`;
}
