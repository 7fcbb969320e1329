/**
 * Nobody grants more than they have: a role may only hold rules that its writer holds, and a binding may only name a
 * role whose rules its writer holds. The verbs "escalate" and "bind" lift that.
 */

import { keyOf } from "../objects/kind.ts";
import {
  clusterRole,
  clusterRoleBinding,
  type PolicyRule,
  role,
  roleBinding,
} from "../objects/kinds/rbac.ts";
import { type ApiObject, equal } from "../objects/object.ts";
import { quote } from "../objects/quote.ts";
import { forbidden } from "../objects/status.ts";
import type { Admission } from "../registry/admission.ts";
import type { Attributes } from "./authorizer.ts";
import { ruleAllows } from "./rules.ts";

export function checkEscalation(admission: Admission, object: ApiObject, old: ApiObject | undefined): void {
  const { kind, user, cluster } = admission;
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
  if (cluster.authorizer.authorize(user, attributes).allowed) return;
  const wanted = ref ? cluster.store.get(keyOf(target, namespace, ref.name))?.value.rules : object.rules;
  const held = cluster.authorizer.rules(user, namespace).rules;
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

/** One rule for each verb, group, resource and name. */
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

/** One rule again for all verbs of a resource. */
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
