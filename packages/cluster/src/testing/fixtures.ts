/** Objects for tables. Each has only what a test does not care about. */
import type { Condition, Node, Pod, PodSpec } from "../client/objects.ts";
import type { Deployment, ReplicaSet } from "../client/workloads.ts";

/** The present in tables. */
export const nowMs = Date.UTC(2030, 0, 1);
export const ago = (seconds: number) => new Date(nowMs - seconds * 1000).toISOString().replace(".000Z", "Z");

const container = { name: "main", image: "main:1" };

/** A pod is ready for the given number of seconds, if any. */
export function pod(
  name: string,
  {
    readyFor,
    metadata = {},
    spec = {},
    status = {},
  }: {
    readyFor?: number;
    metadata?: Partial<Pod["metadata"]>;
    spec?: Partial<PodSpec>;
    status?: Partial<NonNullable<Pod["status"]>>;
  } = {},
): Pod {
  const ready: Condition[] =
    readyFor === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: ago(readyFor) }];
  const phase = readyFor === undefined ? "Pending" : "Running";
  return {
    metadata: { name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1", ...metadata },
    spec: { containers: [container], ...spec },
    status: { phase, conditions: ready, ...status },
  };
}

export function node(
  name: string,
  more: Partial<Pick<Node, "spec" | "status">> & { labels?: Record<string, string> } = {},
): Node {
  const { labels = {}, ...rest } = more;
  return {
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: "1",
      labels: { "kubernetes.io/hostname": name, ...labels },
    },
    status: {
      allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
      conditions: [{ type: "Ready", status: "True" }],
    },
    ...rest,
  };
}

export function deployment(
  spec: Partial<Deployment["spec"]> = {},
  status?: Deployment["status"],
): Deployment {
  const labels = { app: "web" };
  return {
    metadata: { name: "web", namespace: "default", uid: "uid-web", resourceVersion: "1", generation: 1 },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      ...spec,
    },
    ...(status ? { status } : {}),
  };
}

/** A ReplicaSet with an image, and its numbers: wanted, existing and available pods. */
export function replicaSet(
  name: string,
  [replicas, existing = replicas, available = existing]: readonly [number, number?, number?],
  { image = "main:1", metadata = {} }: { image?: string; metadata?: Partial<ReplicaSet["metadata"]> } = {},
): ReplicaSet {
  const labels = { app: "web", "pod-template-hash": name };
  return {
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${name}`,
      resourceVersion: "1",
      generation: 1,
      ...metadata,
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ ...container, image }] } },
    },
    status: {
      replicas: existing,
      readyReplicas: available,
      availableReplicas: available,
      observedGeneration: 1,
    },
  };
}
