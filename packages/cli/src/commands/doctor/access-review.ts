/** Asks the API server what a user may do. Access reviews take every authorizer into account. */
import type { RbacRule } from "@tenure/kube/internal";
import type { LockClient } from "../../elections/find.ts";
import { mergeRules, type ResourceRule, singleRules } from "./rules.ts";

export interface Subject {
  /** The name of the user. Undefined if the server does not tell who the current user is. */
  readonly user?: string;
  readonly groups?: readonly string[];
  /** Whether it is the user who runs the doctor. */
  readonly isSelf?: boolean;
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

/** The user who runs the doctor. */
export function selfSubject(user?: string): Subject {
  return { ...(user !== undefined && { user }), isSelf: true, description: "this user" };
}

/** Which of these rules the subject lacks. Rejects if the server does not review access. */
export async function missingRights(
  client: LockClient,
  subject: Subject,
  namespace: string,
  rules: readonly RbacRule[],
): Promise<readonly ResourceRule[]> {
  const wanted = singleRules(rules);
  const answers = await Promise.all(wanted.map((rule) => isAllowed(client, subject, namespace, rule)));
  return mergeRules(wanted.filter((_, index) => !answers[index]));
}

async function isAllowed(
  client: LockClient,
  { user, groups, isSelf = false }: Subject,
  namespace: string,
  { apiGroups, resources, resourceNames, verbs }: ResourceRule,
): Promise<boolean> {
  const kind = isSelf ? "SelfSubjectAccessReview" : "SubjectAccessReview";
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
      spec: { resourceAttributes, ...(!isSelf && { user, groups }) },
    },
  });
  return status?.allowed === true;
}
