/** One step of a DaemonSet: observed objects in, writes out. */
import type { Node, Pod } from "../../client/objects.ts";
import { availableInMs, isAvailable, isFinished, isReady, isTerminating } from "../../client/pods.ts";
import { parseTime } from "../../client/time.ts";
import type { DaemonSet, DaemonSetStatus } from "../../client/workloads.ts";
import { eligibility, nodeOf } from "./eligible.ts";

export const revisionLabel = "controller-revision-hash";

/** A pod that fails soon after its creation is replaced after this time, so that a node is not flooded. */
const retryMs = 10_000;
const soonMs = 60_000;

export interface DaemonSetStep {
  /** The names of nodes that need a pod. */
  readonly create: readonly string[];
  readonly delete: readonly Pod[];
  readonly status: DaemonSetStatus;
  /** When to look again, if nothing happens before. */
  readonly againInMs?: number;
}

/** @param pods the pods of the set @param hash the revision of the present template */
export function decideDaemonSet(
  set: DaemonSet,
  pods: readonly Pod[],
  nodes: readonly Node[],
  hash: string,
  nowMs: number,
): DaemonSetStep {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const name = nodeOf(pod);
    if (name !== undefined) byNode.set(name, [...(byNode.get(name) ?? []), pod]);
  }
  const create: string[] = [];
  const unwanted = new Set<Pod>();
  const waits: number[] = [];
  const wanted: string[] = [];
  for (const node of nodes) {
    const { name } = node.metadata;
    const { starts, stays } = eligibility(set, node);
    const all = byNode.get(name) ?? [];
    if (starts) wanted.push(name);
    if (!stays) {
      for (const pod of all) unwanted.add(pod);
      continue;
    }
    const ended = all.filter((pod) => isFinished(pod) && !isTerminating(pod));
    for (const pod of ended) {
      const inMs = replaceInMs(pod, nowMs);
      if (inMs === 0) unwanted.add(pod);
      else waits.push(inMs);
    }
    const alive = all.filter((pod) => !isFinished(pod));
    for (const pod of surplus(alive, hash, set, nowMs)) unwanted.add(pod);
    // A pod that is being deleted still has its place.
    if (starts && alive.length === 0 && ended.length === 0) create.push(name);
  }
  // Nodes that are gone.
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  for (const [name, list] of byNode) if (!known.has(name)) for (const pod of list) unwanted.add(pod);
  const update =
    create.length + unwanted.size === 0 ? rollingUpdate(set, byNode, wanted, hash, nowMs) : undefined;
  for (const pod of update?.delete ?? []) unwanted.add(pod);
  const { minReadySeconds = 0 } = set.spec;
  for (const pod of pods) {
    const inMs = availableInMs(pod, minReadySeconds, nowMs) ?? 0;
    if (inMs > 0) waits.push(inMs);
  }
  return {
    create: [...create, ...(update?.create ?? [])],
    delete: [...unwanted].filter((pod) => !isTerminating(pod)),
    status: statusOf(set, byNode, wanted, hash, nowMs),
    ...(waits.length > 0 ? { againInMs: Math.min(...waits) } : {}),
  };
}

function replaceInMs({ metadata, status }: Pod, nowMs: number): number {
  const createdMs = parseTime(metadata.creationTimestamp);
  const endedMs = Math.max(
    createdMs,
    ...(status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt)),
  );
  if (endedMs === createdMs || endedMs - createdMs > soonMs) return 0;
  return Math.max(endedMs + retryMs - nowMs, 0);
}

/** One pod of each revision may be on a node, while a new one becomes available. Of equal ones the oldest stays. */
function surplus(alive: readonly Pod[], hash: string, { spec }: DaemonSet, nowMs: number): Pod[] {
  const staying = alive.filter((pod) => !isTerminating(pod));
  const age = (pod: Pod) => parseTime(pod.metadata.creationTimestamp);
  const sorted = [...staying].sort((a, b) => age(a) - age(b));
  const updated = sorted.filter((pod) => isUpdated(pod, hash));
  const old = sorted.filter((pod) => !isUpdated(pod, hash));
  const isReplaced = updated.some((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, nowMs));
  return [...updated.slice(1), ...(isReplaced ? old : old.slice(1))];
}

const isUpdated = ({ metadata }: Pod, hash: string) => metadata.labels?.[revisionLabel] === hash;

/** Replaces old pods: those that serve nobody at once, the others as far as the strategy allows. */
function rollingUpdate(
  { spec }: DaemonSet,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  wanted: readonly string[],
  hash: string,
  nowMs: number,
): { create: string[]; delete: Pod[] } | undefined {
  const { type = "RollingUpdate", rollingUpdate: limits = {} } = spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return undefined;
  const maxSurge = share(limits.maxSurge ?? 0, wanted.length);
  const maxUnavailable = share(limits.maxUnavailable ?? 1, wanted.length);
  const serves = (pod: Pod) => !isTerminating(pod) && isAvailable(pod, spec.minReadySeconds ?? 0, nowMs);
  const states = wanted.map((name) => {
    const all = (byNode.get(name) ?? []).filter((pod) => !isFinished(pod));
    const old = all.find((pod) => !isUpdated(pod, hash) && !isTerminating(pod));
    return { name, old, hasNew: all.some((pod) => isUpdated(pod, hash)), isServed: all.some(serves) };
  });
  const outdated = states.filter(({ old }) => old !== undefined);
  if (maxSurge > 0) {
    const surging = outdated.filter(({ hasNew }) => hasNew).length;
    const next = outdated.filter(({ hasNew }) => !hasNew).slice(0, Math.max(maxSurge - surging, 0));
    return { create: next.map(({ name }) => name), delete: [] };
  }
  const free = outdated.filter(({ isServed }) => !isServed);
  const unserved = states.filter(({ isServed }) => !isServed).length;
  const next = outdated.filter(({ isServed }) => isServed).slice(0, Math.max(maxUnavailable - unserved, 0));
  return { create: [], delete: [...free, ...next].flatMap(({ old }) => old ?? []) };
}

/** A number, or a percentage, which is rounded up. */
function share(value: number | string, of: number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value);
  return percent ? Math.ceil((Number(percent[1]) * of) / 100) : 0;
}

function statusOf(
  { metadata, spec, status }: DaemonSet,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  wanted: readonly string[],
  hash: string,
  nowMs: number,
): DaemonSetStatus {
  const places = wanted.map((name) => byNode.get(name) ?? []).filter((pods) => pods.length > 0);
  const count = (matches: (pod: Pod) => boolean) => places.filter((pods) => pods.some(matches)).length;
  const available = count((pod) => isAvailable(pod, spec.minReadySeconds ?? 0, nowMs));
  return {
    currentNumberScheduled: places.length,
    numberMisscheduled: [...byNode].filter(([name, pods]) => !wanted.includes(name) && pods.length > 0)
      .length,
    desiredNumberScheduled: wanted.length,
    numberReady: count(isReady),
    observedGeneration: metadata.generation ?? 0,
    updatedNumberScheduled: count((pod) => isUpdated(pod, hash)),
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    ...(status?.collisionCount ? { collisionCount: status.collisionCount } : {}),
    ...(status?.conditions ? { conditions: status.conditions } : {}),
  };
}
