/** Checks that candidates have the rights that they need, and reports what the user of the doctor may not read. */
import { KubeError } from "@tenure/kube";
import type { RbacRule } from "@tenure/kube/internal";
import type { LockClient } from "../../../elections/find.ts";
import { type LockKind, lockKinds } from "../../../elections/lock-object.ts";
import { missingRights, type Subject } from "../access-review.ts";
import type { Advice } from "../advice.ts";
import { type Fix, finding, ok, type Report, skipped } from "../report.ts";
import { describeRules, grantManifests, type ResourceRule, rulesYaml } from "../rules.ts";
import type { Denial } from "../snapshot.ts";

export async function checkRights(
  client: LockClient,
  subject: Subject,
  rules: readonly RbacRule[],
  advice: Advice,
  about?: string,
): Promise<Report> {
  const { namespace } = advice;
  try {
    const missing = await missingRights(client, subject, namespace, rules);
    if (missing.length === 0)
      return ok("rights", `${subject.description} has the rights that a candidate needs`, about);
    const what = `${subject.description} may not ${describeRules(missing)} in namespace "${namespace}"`;
    return finding("rights", what, grantTo(subject, missing, advice), about);
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "Forbidden") throw error;
    return skipped(
      "rights",
      `you may not ask for the rights of ${subject.description}`,
      about,
      "the right to create subjectaccessreviews in a ClusterRole allows it",
    );
  }
}

/** Reports that the user may not read the lock. It may exist or not: nothing can be said about it. */
export function lockDenied(
  kind: LockKind,
  name: string | undefined,
  self: Subject,
  advice: Advice,
  about?: string,
): Report {
  const { apiGroup, plural } = lockKinds[kind];
  const base = { apiGroups: [apiGroup], resources: [plural] };
  const [denied, helpful] =
    name === undefined
      ? [
          { ...base, verbs: ["list"] },
          { ...base, verbs: ["get", "list", "watch"] },
        ]
      : [
          { ...base, resourceNames: [name], verbs: ["get"] },
          { ...base, resourceNames: [name], verbs: ["get", "watch"] },
        ];
  const unknown = name === undefined ? "which elections exist" : "whether the election exists and who leads";
  const what = `you may not ${describeRules([denied])} in namespace "${advice.namespace}", so ${unknown} is unknown`;
  return finding("access", what, grantTo(self, [helpful], advice), about);
}

/** What depends on a kind that the user may not list. */
const uses: Readonly<Record<string, string>> = {
  pods: "pods, identities and labels were not checked",
  deployments: "Deployments were not checked",
  statefulsets: "StatefulSets were not checked",
  daemonsets: "DaemonSets were not checked",
  poddisruptionbudgets: "budgets were not checked",
  services: "Services were not checked",
  serviceaccounts: "ServiceAccounts were not checked",
  endpointslices: "EndpointSlices were not checked",
  configmaps: "ConfigMaps that name the leader were not checked",
};

export function surroundingsDenied(
  { apiGroup, plural }: Denial,
  self: Subject,
  { namespace }: Advice,
): Report {
  const rule = { apiGroups: [apiGroup], resources: [plural], verbs: ["list"] };
  return skipped(
    "surroundings",
    `you may not list ${plural} in namespace "${namespace}", so ${uses[plural] ?? "they were not checked"}`,
    undefined,
    `${toRole(self, namespace)}:\n${rulesYaml([rule])}`,
  );
}

function toRole({ user, description }: Subject, namespace: string): string {
  return `add this to a Role in namespace ${namespace} that is bound to ${user ?? description}`;
}

function grantTo(subject: Subject, rules: readonly ResourceRule[], advice: Advice): Fix {
  const { namespace } = advice;
  const fix = `${toRole(subject, namespace)}:\n${rulesYaml(rules)}`;
  if (subject.user === undefined) return fix;
  const manifests = grantManifests(subject.user, namespace, rules);
  // Nobody can grant rights to themselves, so a command with the credentials of this user would fail.
  return subject.isSelf
    ? `ask an administrator of namespace ${namespace} to apply this:\n${manifests.join("\n---\n")}`
    : { fix, command: advice.apply(...manifests) };
}
