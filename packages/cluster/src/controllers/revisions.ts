/** The history of a workload's template, in ControllerRevisions. `kubectl rollout undo` reads it. */
import { type ApiClient, objectPath, type Resource } from "../client/api.ts";
import type { KubeObject, Labels, PodTemplate } from "../client/objects.ts";
import { controllerReference, isControlledBy } from "../client/owner.ts";
import { controllerRevisions } from "../client/resources.ts";
import type { ControllerRevision } from "../client/workloads.ts";
import { createObject, hasCode, isNamespaceEnding, patchObject } from "../client/writes.ts";
import { canonical, canonicalText, shortHash } from "./names.ts";

/** A StatefulSet or a DaemonSet. */
export interface RevisionOwner extends KubeObject {
  readonly spec: { readonly template: PodTemplate; readonly revisionHistoryLimit?: number };
  readonly status?: { readonly collisionCount?: number };
}

/** The label of a revision with the hash of its template. DaemonSets have another one, which their pods have too. */
const hashLabels: Readonly<Record<string, string>> = {
  StatefulSet: "controller.kubernetes.io/hash",
  DaemonSet: "controller-revision-hash",
};

const hashLabelOf = ({ kind }: Resource<KubeObject>) => hashLabels[kind] ?? "";

export interface RevisionChange {
  readonly name: string;
  /** The short hash of the template, which is the end of the name. */
  readonly hash: string;
  /** A revision to create for the present template. */
  readonly create?: object;
  /** An older revision that has the present template again, with its new number. */
  readonly replace?: ControllerRevision;
}

/** The revision of the present template. */
export function updateRevision(
  owners: Resource<KubeObject>,
  owner: RevisionOwner,
  history: readonly ControllerRevision[],
): RevisionChange {
  const data = dataOf(owner);
  const sorted = [...history].sort((a, b) => a.revision - b.revision);
  const equal = sorted.filter((revision) => sameTemplate(revision, owner)).at(-1);
  const last = sorted.at(-1);
  const hashLabel = hashLabelOf(owners);
  const known = equal && { name: equal.metadata.name, hash: equal.metadata.labels?.[hashLabel] ?? "" };
  if (known && equal === last) return known;
  const number = (last?.revision ?? 0) + 1;
  if (known) return { ...known, replace: { ...equal, revision: number } };
  const hash = shortHash(`${canonicalText(data)}${owner.status?.collisionCount ?? ""}`);
  const name = `${owner.metadata.name}-${hash}`;
  const labels: Labels = { ...owner.spec.template.metadata?.labels, [hashLabel]: hash };
  const metadata = { name, labels, ownerReferences: [controllerReference(owners, owner)] };
  return { name, hash, create: { metadata, data, revision: number } };
}

/** Whether the revision exists afterwards. If its name belongs to another template, the next attempt uses another name. */
export async function createRevision(
  client: ApiClient,
  owners: Resource<KubeObject>,
  owner: RevisionOwner,
  { name, create = {} }: RevisionChange,
): Promise<boolean> {
  const { namespace, uid, resourceVersion } = owner.metadata;
  try {
    await createObject(client, controllerRevisions, namespace, create);
    return true;
  } catch (error) {
    if (isNamespaceEnding(error)) return false;
    if (!hasCode(error, "AlreadyExists")) throw error;
  }
  const path = objectPath(controllerRevisions, { ...(namespace ? { namespace } : {}), name });
  const taken = await client.request<ControllerRevision>({ method: "GET", path });
  if (isControlledBy(taken, owner) && sameTemplate(taken, owner)) return true;
  const collisionCount = (owner.status?.collisionCount ?? 0) + 1;
  const patch = { metadata: { uid, resourceVersion }, status: { collisionCount } };
  await patchObject(client, owners, owner.metadata, patch, { subresource: "status", type: "merge" });
  return false;
}

function sameTemplate({ data }: ControllerRevision, owner: RevisionOwner): boolean {
  return canonicalText(data) === canonicalText(dataOf(owner));
}

/** The template of a revision. A revision that is gone means the present template. */
export function templateOf(
  owner: RevisionOwner,
  history: readonly ControllerRevision[],
  name: string,
): PodTemplate {
  const found = history.find(({ metadata }) => metadata.name === name);
  const { $patch: _patch, ...template } = (found?.data?.spec?.template ??
    owner.spec.template) as PodTemplate & { $patch?: string };
  return template;
}

/** Revisions beyond the limit that are not in use: the oldest. @param isLive whether a pod or the status names it */
export function expiredRevisions(
  { spec }: RevisionOwner,
  history: readonly ControllerRevision[],
  isLive: (revision: ControllerRevision) => boolean,
): ControllerRevision[] {
  const unused = history.filter((revision) => !isLive(revision)).sort((a, b) => a.revision - b.revision);
  return unused.slice(0, Math.max(unused.length - (spec.revisionHistoryLimit ?? 10), 0));
}

/**
 * As Kubernetes stores it: a patch that `kubectl rollout undo` can apply. Its keys are sorted, because Kubernetes finds the revision
 * of a template by comparing bytes.
 */
function dataOf({ spec }: RevisionOwner): object {
  return canonical({ spec: { template: { ...spec.template, $patch: "replace" } } }) as object;
}
