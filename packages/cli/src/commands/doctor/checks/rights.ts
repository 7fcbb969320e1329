/** Checks that a candidate has the rights that it needs, with access reviews, which take every authorizer into account. */

import { KubeError } from "@tenure/kube";
import { formatRule, type RbacRule } from "@tenure/kube/internal";
import type { LockClient } from "../../../elections/find.ts";
import { finding, ok, type Report, skipped } from "../report.ts";

type ResourceRule = Extract<RbacRule, { resources: string[] }>;

export interface Subject {
  /** Undefined for the current user. */
  readonly user?: string;
  readonly groups?: readonly string[];
  /** For messages: `ServiceAccount prod/billing`. */
  readonly description: string;
}

/** The subject for a user name. A service account gets the groups that Kubernetes gives it. */
export function subjectOf(user: string): Subject {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined) return { user, groups: ["system:authenticated"], description: user };
  return {
    user,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    description: `ServiceAccount ${namespace}/${name}`,
  };
}

export async function checkRights(
  client: LockClient,
  subject: Subject,
  namespace: string,
  rules: readonly RbacRule[],
  about?: string,
): Promise<Report> {
  const wanted = rules.filter((rule): rule is ResourceRule => "resources" in rule).flatMap(single);
  let missing: ResourceRule[];
  try {
    const answers = await Promise.all(wanted.map((rule) => isAllowed(client, subject, namespace, rule)));
    missing = wanted.filter((_, index) => !answers[index]);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden") throw error;
    return skipped(
      "rights",
      `no right to check the rights of ${subject.description} (create subjectaccessreviews)`,
      about,
    );
  }
  if (missing.length === 0)
    return ok("rights", `${subject.description} has the rights that a candidate needs`, about);
  const merged = merge(missing);
  const what = merged
    .map(
      ({ verbs, resources, resourceNames }) =>
        `${verbs.join(", ")} ${resources[0]}${resourceNames ? ` "${resourceNames[0]}"` : ""}`,
    )
    .join("; ");
  return finding(
    "rights",
    `${subject.description} may not ${what} in namespace "${namespace}"`,
    [
      `add this to a Role in namespace ${namespace} that is bound to ${subject.user ?? "this user"}:`,
      "rules:",
      ...merged.map((rule) => `  - ${formatRule(rule)}`),
    ].join("\n"),
    about,
  );
}

/** Which of these rules the current user lacks. Rejects if the server does not review access. */
export async function missingRights(
  client: LockClient,
  namespace: string,
  rules: readonly ResourceRule[],
): Promise<readonly ResourceRule[]> {
  const wanted = rules.flatMap(single);
  const answers = await Promise.all(
    wanted.map((rule) => isAllowed(client, { description: "this user" }, namespace, rule)),
  );
  return merge(wanted.filter((_, index) => !answers[index]));
}

/** One rule for each verb, resource and name, because an access review covers only one. */
function single({ apiGroups, resources, resourceNames, verbs }: ResourceRule): ResourceRule[] {
  return resources.flatMap((resource) =>
    verbs.flatMap((verb) =>
      (resourceNames ?? [undefined]).map((name) => ({
        apiGroups,
        resources: [resource],
        ...(name !== undefined && { resourceNames: [name] }),
        verbs: [verb],
      })),
    ),
  );
}

/** Merges rules that differ only in their verbs. */
function merge(rules: readonly ResourceRule[]): ResourceRule[] {
  const byRest = new Map<string, ResourceRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = JSON.stringify(rest);
    const before = byRest.get(key);
    byRest.set(key, before ? { ...rule, verbs: [...before.verbs, ...verbs] } : rule);
  }
  return [...byRest.values()];
}

async function isAllowed(
  client: LockClient,
  { user, groups }: Subject,
  namespace: string,
  { apiGroups, resources, resourceNames, verbs }: ResourceRule,
): Promise<boolean> {
  const kind = user === undefined ? "SelfSubjectAccessReview" : "SubjectAccessReview";
  const [resource, subresource] = (resources[0] ?? "").split("/", 2);
  const resourceAttributes = {
    namespace,
    verb: verbs[0],
    group: apiGroups[0],
    resource,
    ...(subresource !== undefined && { subresource }),
    ...(resourceNames && { name: resourceNames[0] }),
  };
  const { status } = await client.request<{ status?: { allowed?: boolean } }>({
    method: "POST",
    path: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind,
      spec: { resourceAttributes, ...(user !== undefined && { user, groups }) },
    },
  });
  return status?.allowed === true;
}
