/** May a candidate do what it needs? Asked of the API server by access reviews, which ask every authorizer that it has. */
import { type KubeClient, KubeError } from "@tenure/kube";
import { formatRule, type RbacRule } from "@tenure/kube/internal";
import { finding, ok, type Report, skipped } from "../report.ts";

type ResourceRule = Extract<RbacRule, { resources: string[] }>;

export interface Subject {
  /** Undefined for whoever asks. */
  readonly user?: string;
  readonly groups?: readonly string[];
  /** For people: `ServiceAccount prod/billing`. */
  readonly words: string;
}

/** A service account by its user name also has the groups that Kubernetes gives it. */
export function subjectOf(user: string): Subject {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  if (namespace === undefined) return { user, groups: ["system:authenticated"], words: user };
  return {
    user,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    words: `ServiceAccount ${namespace}/${name}`,
  };
}

export async function checkRights(
  client: KubeClient,
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
    return skipped("rights", `may not ask what ${subject.words} may do (create subjectaccessreviews)`, about);
  }
  if (missing.length === 0) return ok("rights", `${subject.words} may do what a candidate needs`, about);
  const merged = merge(missing);
  const what = merged
    .map(
      ({ verbs, resources, resourceNames }) =>
        `${verbs.join(", ")} ${resources[0]}${resourceNames ? ` "${resourceNames[0]}"` : ""}`,
    )
    .join("; ");
  return finding(
    "rights",
    `${subject.words} may not ${what} in namespace "${namespace}"`,
    [
      `add this to a Role in namespace ${namespace} that is bound to ${subject.user ?? "you"}:`,
      "rules:",
      ...merged.map((rule) => `  - ${formatRule(rule)}`),
    ].join("\n"),
    about,
  );
}

/** One rule for each verb, resource and name: what can be asked. */
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

/** Rules that differ in their verbs only become one again. */
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
  client: KubeClient,
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
