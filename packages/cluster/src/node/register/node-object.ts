/** The Node object that an agent writes about itself. */
import type { Condition } from "../../client/objects.ts";
import type { NodePlatform } from "../platform.ts";
import { formatTime } from "../time.ts";

/** The version of Kubernetes whose behaviour the agent follows. */
const kubeletVersion = "v1.36.0";
const mostPods = 110;

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly machine: NodePlatform["machine"];
  /** How containers are isolated, in one sentence. */
  readonly isolation: string;
}

export interface AgentAddress {
  readonly address: string;
  readonly port: number;
}

export function capacityOf({ cpus, memoryBytes }: NodePlatform["machine"]): Record<string, string> {
  return {
    cpu: String(cpus),
    memory: `${Math.floor(memoryBytes / 1024)}Ki`,
    "ephemeral-storage": "100Gi",
    pods: String(mostPods),
  };
}

export function labelsOf({ name, labels, machine }: NodeFacts): Record<string, string> {
  const { os, arch } = machine;
  return {
    "beta.kubernetes.io/arch": arch,
    "beta.kubernetes.io/os": os,
    "kubernetes.io/arch": arch,
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": os,
    ...labels,
  };
}

/** The status without conditions. @param agent where the agent's own server listens */
export function nodeStatus({ name, machine }: NodeFacts, agent: AgentAddress): object {
  const { address, port } = agent;
  const capacity = capacityOf(machine);
  return {
    capacity,
    allocatable: capacity,
    addresses: [
      { type: "InternalIP", address },
      { type: "Hostname", address: name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
    nodeInfo: {
      machineID: machine.hostname,
      systemUUID: machine.hostname,
      bootID: machine.hostname,
      kernelVersion: machine.kernel,
      osImage: `${machine.os} ${machine.kernel}`,
      containerRuntimeVersion: "tenure://0.1.0",
      kubeletVersion,
      kubeProxyVersion: "",
      operatingSystem: machine.os,
      architecture: machine.arch,
    },
  };
}

const pressures = [
  ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
  ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
  ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
] as const;

/** A condition keeps the time of its last change. @param before the conditions of the present Node object */
export function nodeConditions(
  isReady: boolean,
  isolation: string,
  before: readonly Condition[],
  wallMs: number,
): Condition[] {
  const now = formatTime(wallMs);
  const create = (type: string, status: Condition["status"], reason: string, message: string): Condition => {
    const known = before.find((condition) => condition.type === type);
    const since = known?.status === status ? known.lastTransitionTime : undefined;
    return { type, status, reason, message, lastHeartbeatTime: now, lastTransitionTime: since ?? now };
  };
  return [
    ...pressures.map(([type, reason, message]) => create(type, "False", reason, message)),
    isReady
      ? create("Ready", "True", "KubeletReady", `The node agent is ready. ${isolation}`)
      : create("Ready", "False", "NodeAgentStopped", "The node agent was stopped."),
  ];
}
