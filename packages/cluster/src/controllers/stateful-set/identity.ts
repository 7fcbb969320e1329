/** The pods of a StatefulSet have names that stay: NAME-0, NAME-1, … */
import type { KubeObject, ObjectMeta, Pod, PodSpec, PodTemplate } from "../../client/objects.ts";
import { controllerReference } from "../../client/owner.ts";
import { statefulSets } from "../../client/resources.ts";
import type { StatefulSet } from "../../client/workloads.ts";

export const revisionLabel = "controller-revision-hash";
const podNameLabel = "statefulset.kubernetes.io/pod-name";
const podIndexLabel = "apps.kubernetes.io/pod-index";

export const podName = ({ metadata }: StatefulSet, ordinal: number) => `${metadata.name}-${ordinal}`;

/** The number of a pod of this set. */
export function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | undefined {
  const suffix = pod.metadata.name.slice(metadata.name.length + 1);
  const isOwn = pod.metadata.name.startsWith(`${metadata.name}-`) && /^(0|[1-9]\d*)$/.test(suffix);
  return isOwn ? Number(suffix) : undefined;
}

export const revisionOfPod = ({ metadata }: Pod) => metadata.labels?.[revisionLabel];

/** The body of a pod. @param revision the name of the ControllerRevision that the template is from */
export function podFor(set: StatefulSet, ordinal: number, template: PodTemplate, revision: string): object {
  const name = podName(set, ordinal);
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const metadata = {
    name,
    generateName: `${set.metadata.name}-`,
    labels: { ...labels, [podNameLabel]: name, [podIndexLabel]: String(ordinal), [revisionLabel]: revision },
    ...(annotations ? { annotations } : {}),
    ...(finalizers ? { finalizers } : {}),
    ownerReferences: [controllerReference(statefulSets, set)],
  };
  return { metadata, spec: specFor(set, name, template.spec) };
}

/** The volume claims of a pod. They outlive it. */
export function claimsFor(
  set: StatefulSet,
  ordinal: number,
): { metadata: Partial<ObjectMeta>; spec?: unknown }[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => {
    const { metadata, spec } = template as KubeObject & { spec?: unknown };
    const labels = { ...metadata.labels, ...set.spec.selector.matchLabels };
    const annotations = metadata.annotations ? { annotations: metadata.annotations } : {};
    return { metadata: { name: claimName(metadata.name, set, ordinal), labels, ...annotations }, spec };
  });
}

const claimName = (template: string, set: StatefulSet, ordinal: number) =>
  `${template}-${podName(set, ordinal)}`;

function specFor(set: StatefulSet, name: string, spec: PodSpec): PodSpec {
  const { volumes = [] } = spec as { volumes?: readonly { name: string }[] };
  const ordinal = Number(name.slice(set.metadata.name.length + 1));
  const claimed = (set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: claimName(metadata.name, set, ordinal) },
  }));
  const others = volumes.filter((volume) => !claimed.some(({ name: taken }) => taken === volume.name));
  const all = [...claimed, ...others];
  return {
    ...spec,
    hostname: name,
    ...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}),
    ...(all.length > 0 ? { volumes: all } : {}),
  } as PodSpec;
}
