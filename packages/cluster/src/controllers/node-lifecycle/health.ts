/** Whether a node is alive, and what its conditions and taints should be. */
import type { Condition, Lease, Node, Taint } from "../../client/objects.ts";
import { formatTime } from "../../client/time.ts";

/** The conditions that a node agent reports. When it stops, nothing is known about them. */
const reportedConditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

const notReady = "node.kubernetes.io/not-ready";
const unreachable = "node.kubernetes.io/unreachable";
const unschedulable = "node.kubernetes.io/unschedulable";
const conditionTaints: readonly { type: string; status: string; key: string }[] = [
  { type: "Ready", status: "False", key: notReady },
  { type: "Ready", status: "Unknown", key: unreachable },
  { type: "MemoryPressure", status: "True", key: "node.kubernetes.io/memory-pressure" },
  { type: "DiskPressure", status: "True", key: "node.kubernetes.io/disk-pressure" },
  { type: "PIDPressure", status: "True", key: "node.kubernetes.io/pid-pressure" },
  { type: "NetworkUnavailable", status: "True", key: "node.kubernetes.io/network-unavailable" },
];
/** The taints that only this controller sets. */
const ownTaints = new Set([...conditionTaints.map(({ key }) => key), unschedulable]);
const evicting = new Set([notReady, unreachable]);

/** What changes when the node agent is alive. A change of it is a sign of life, whatever times it contains. */
export function lifeSignOf(node: Node, lease: Lease | undefined): string {
  const heartbeats = (node.status?.conditions ?? []).map(({ lastHeartbeatTime }) => lastHeartbeatTime);
  return JSON.stringify([node.metadata.uid, lease?.metadata.uid, lease?.spec?.renewTime, heartbeats]);
}

/** The conditions of a node that gives no sign of life. Nothing if they say so already. */
export function unknownConditions({ status, metadata }: Node, nowMs: number): Condition[] | undefined {
  const present = status?.conditions ?? [];
  const lastTransitionTime = formatTime(nowMs);
  const changed = reportedConditions.flatMap((type): Condition[] => {
    const known = present.find((condition) => condition.type === type);
    if (known?.status === "Unknown") return [];
    const reason = known ? "NodeStatusUnknown" : "NodeStatusNeverUpdated";
    const message = known ? "Kubelet stopped posting node status." : "Kubelet never posted node status.";
    const lastHeartbeatTime = known?.lastHeartbeatTime ?? metadata.creationTimestamp;
    const time = lastHeartbeatTime === undefined ? {} : { lastHeartbeatTime };
    return [{ type, status: "Unknown", reason, message, ...time, lastTransitionTime }];
  });
  return changed.length === 0 ? undefined : changed;
}

/** @param mayEvict false if no node gives a sign of life: then the network is more likely at fault than all nodes */
export function wantedTaints(node: Node, mayEvict: boolean, nowMs: number): readonly Taint[] {
  const present = node.spec?.taints ?? [];
  const keys = conditionTaints
    .filter(({ type, status }) =>
      node.status?.conditions?.some((each) => each.type === type && each.status === status),
    )
    .map(({ key }) => key);
  if (node.spec?.unschedulable) keys.push(unschedulable);
  const wanted = keys.flatMap((key): Taint[] => [
    { key, effect: "NoSchedule" },
    ...(evicting.has(key) && mayEvict ? [{ key, effect: "NoExecute" }] : []),
  ]);
  // A node without conditions has just been created. It gets no new pods yet, but nothing leaves it.
  const isNew = !node.status?.conditions?.some(({ type }) => type === "Ready");
  if (isNew) wanted.push({ key: notReady, effect: "NoSchedule" });
  return [
    ...present.filter(({ key }) => !ownTaints.has(key)),
    ...wanted.map(
      (taint) =>
        present.find(({ key, effect }) => key === taint.key && effect === taint.effect) ?? {
          ...taint,
          timeAdded: formatTime(nowMs),
        },
    ),
  ];
}

export function isSameTaints(a: readonly Taint[] = [], b: readonly Taint[]): boolean {
  const texts = (taints: readonly Taint[]) =>
    taints.map(({ key, value, effect }) => `${key}=${value ?? ""}:${effect}`);
  return texts(a).sort().join() === texts(b).sort().join();
}
