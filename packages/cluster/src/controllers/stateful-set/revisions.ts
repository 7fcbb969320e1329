/** The history of a StatefulSet's template, in ControllerRevisions. `kubectl rollout undo` reads it. */
import type { Labels, PodTemplate } from "../../client/objects.ts";
import { controllerReference } from "../../client/owner.ts";
import { statefulSets } from "../../client/resources.ts";
import type { ControllerRevision, StatefulSet } from "../../client/workloads.ts";
import { canonicalText, shortHash } from "../names.ts";
import { revisionLabel } from "./identity.ts";

export interface RevisionChange {
  readonly name: string;
  /** A revision to create for the present template. */
  readonly create?: object;
  /** An older revision that has the present template again, with its new number. */
  readonly replace?: ControllerRevision;
}

/** The revision of the present template. */
export function updateRevision(set: StatefulSet, history: readonly ControllerRevision[]): RevisionChange {
  const data = dataOf(set);
  const sorted = [...history].sort((a, b) => a.revision - b.revision);
  const equal = sorted.filter((revision) => sameTemplate(revision, set)).at(-1);
  const last = sorted.at(-1);
  if (equal && equal === last) return { name: equal.metadata.name };
  const number = (last?.revision ?? 0) + 1;
  if (equal) return { name: equal.metadata.name, replace: { ...equal, revision: number } };
  const hash = shortHash(`${canonicalText(data)}${set.status?.collisionCount ?? ""}`);
  const name = `${set.metadata.name}-${hash}`;
  const labels: Labels = { ...set.spec.template.metadata?.labels, "controller.kubernetes.io/hash": hash };
  const metadata = { name, labels, ownerReferences: [controllerReference(statefulSets, set)] };
  return { name, create: { metadata, data, revision: number } };
}

export function sameTemplate({ data }: ControllerRevision, set: StatefulSet): boolean {
  return canonicalText(data) === canonicalText(dataOf(set));
}

/** The template of a revision. A revision that is gone means the present template. */
export function templateOf(
  set: StatefulSet,
  history: readonly ControllerRevision[],
  name: string,
): PodTemplate {
  const found = history.find(({ metadata }) => metadata.name === name);
  const { $patch: _patch, ...template } = (found?.data?.spec?.template ??
    set.spec.template) as PodTemplate & {
    $patch?: string;
  };
  return template;
}

/** Revisions beyond the limit that no pod uses: the oldest. */
export function expiredRevisions(
  { spec, status }: StatefulSet,
  history: readonly ControllerRevision[],
  pods: readonly { readonly metadata: { readonly labels?: Labels } }[],
): ControllerRevision[] {
  const live = new Set([
    status?.currentRevision,
    status?.updateRevision,
    ...pods.map(({ metadata }) => metadata.labels?.[revisionLabel]),
  ]);
  const unused = history
    .filter(({ metadata }) => !live.has(metadata.name))
    .sort((a, b) => a.revision - b.revision);
  return unused.slice(0, Math.max(unused.length - (spec.revisionHistoryLimit ?? 10), 0));
}

/** As Kubernetes stores it: a patch that `kubectl rollout undo` can apply. */
function dataOf({ spec }: StatefulSet): object {
  return { spec: { template: { ...spec.template, $patch: "replace" } } };
}
