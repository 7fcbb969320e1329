/** Which pod an identity names, and which workload a pod belongs to. Pure. */
import type { Labelled, PodSpec, Selector, Workload } from "./workload.ts";

export interface Pod extends Labelled {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
    readonly containerStatuses?: readonly {
      readonly restartCount?: number;
      readonly state?: { readonly waiting?: { readonly reason?: string } };
    }[];
  };
}

function isAlive({ status }: Pod): boolean {
  return status?.phase !== "Failed" && status?.phase !== "Succeeded";
}

/** Whether the pod works: neither waiting to start nor about to stop. */
export function isRunning(pod: Pod): boolean {
  return pod.status?.phase === "Running" && pod.metadata.deletionTimestamp === undefined;
}

/** A host name has at most this many characters. The kubelet cuts longer pod names. */
const longestHostName = 63;

/** Whether an identity is this pod's: its name or host name, alone or followed by an underscore and a random part (client-go). */
export function isIdentityOf({ metadata: { name }, spec: { hostname } }: Pod, identity: string): boolean {
  return [name, name.slice(0, longestHostName), ...(hostname === undefined ? [] : [hostname])].some(
    (own) => identity === own || identity.startsWith(`${own}_`),
  );
}

/** The live pod with this identity. */
export function podOf(pods: readonly Pod[], identity: string): Pod | undefined {
  return identity === "" ? undefined : pods.filter(isAlive).find((pod) => isIdentityOf(pod, identity));
}

/** The live pods that share the host name of their node, if that is the identity. */
export function podsOnHost(pods: readonly Pod[], identity: string): readonly Pod[] {
  return pods.filter(
    (pod) =>
      isAlive(pod) &&
      pod.spec.hostNetwork === true &&
      pod.spec.nodeName !== undefined &&
      (identity === pod.spec.nodeName || identity.startsWith(`${pod.spec.nodeName}_`)),
  );
}

export interface Owner {
  readonly kind: string;
  readonly name: string;
}

/** The workload that manages the pod. A Deployment names its ReplicaSets after itself and the hash in the label of their pods. */
export function ownerOf({ metadata: { ownerReferences = [], labels } }: Pod): Owner | undefined {
  const owner = ownerReferences.find(({ controller }) => controller);
  // The kubelet writes the node as the owner of a static pod.
  if (owner === undefined || owner.kind === "Node") return undefined;
  const suffix = `-${labels?.["pod-template-hash"]}`;
  return owner.kind === "ReplicaSet" && owner.name.endsWith(suffix)
    ? { kind: "Deployment", name: owner.name.slice(0, -suffix.length) }
    : { kind: owner.kind, name: owner.name };
}

/** Whether the workload manages this pod: by its owner, or by the selector if it has none. */
export function isPodOf(workload: Workload, pod: Pod): boolean {
  if (workload.kind === "Pod") return workload.metadata.name === pod.metadata.name;
  const owner = ownerOf(pod);
  if (owner) return owner.kind === workload.kind && owner.name === workload.metadata.name;
  return matches(workload.spec.selector, pod.metadata.labels);
}

export function livePodsOf(workload: Workload, pods: readonly Pod[] | undefined): readonly Pod[] {
  return (pods ?? []).filter((pod) => isAlive(pod) && isPodOf(workload, pod));
}

/** Pods without a known workload, as a workload for each owner, or for each pod without one. */
export function unmanaged(pods: readonly Pod[], workloads: readonly Workload[]): readonly Workload[] {
  const groups = new Map<string, Workload>();
  for (const pod of pods) {
    if (!isAlive(pod) || workloads.some((workload) => isPodOf(workload, pod))) continue;
    const { kind, name } = ownerOf(pod) ?? { kind: "Pod", name: pod.metadata.name };
    const before = groups.get(`${kind}/${name}`);
    const replicas = (before?.spec.replicas ?? 0) + 1;
    const template = { metadata: pod.metadata, spec: pod.spec };
    const selector = { matchLabels: pod.metadata.labels ?? {} };
    groups.set(`${kind}/${name}`, {
      kind,
      metadata: kind === "Pod" ? pod.metadata : { name },
      spec: { replicas, selector, template },
    });
  }
  return [...groups.values()];
}

type Labels = Readonly<Record<string, string>>;

export function selects(labels: Labels | undefined, selector: Labels | undefined): boolean {
  const wanted = Object.entries(selector ?? {});
  return wanted.length > 0 && wanted.every(([key, value]) => labels?.[key] === value);
}

/** A selector as in Deployments and budgets. An empty one matches nothing here, because no workload has one. */
export function matches(selector: Selector | undefined, labels: Labels | undefined): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const wanted = Object.entries(matchLabels);
  if (wanted.length === 0 && matchExpressions.length === 0) return false;
  return (
    wanted.every(([key, value]) => labels?.[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels?.[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === "In" ? isIn : !isIn;
    })
  );
}
