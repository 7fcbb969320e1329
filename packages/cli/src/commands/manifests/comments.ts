/** Why the manifests are as they are, said above the very field. Paths that an option leaves out are simply not met. */
import type { KubernetesObject } from "./names.ts";
import type { CheckedOptions, TrafficMode } from "./options.ts";

type Comments = Readonly<Record<string, string | ((options: CheckedOptions) => string | undefined)>>;

export function commentFor(
  object: KubernetesObject,
  path: string,
  options: CheckedOptions,
): string | undefined {
  const text = comments[object.kind]?.[path];
  return typeof text === "function" ? text(options) : text;
}

/** Above everything: what this is, and what is left out on purpose. */
export function preamble(options: CheckedOptions): string[] {
  const { name, namespace, mode, traffic } = options;
  return [
    `${name} in namespace ${namespace}: of ${options.replicas} replicas one leads. ${modeWords[mode]}. ${trafficWords[traffic]}.`,
    ...(options.isOnlyLeaderReady
      ? [
          "No PodDisruptionBudget: only the leader is Ready, and a budget that protects it would forbid to drain its node, for ever.",
        ]
      : []),
  ];
}

const modeWords = {
  run: "tenure runs the program on the leader",
  sidecar: "tenure runs beside the application, which asks it who leads",
  library: "the application runs the election itself",
};

const trafficWords: Record<TrafficMode, string> = {
  none: "Every Ready replica is reached, if any",
  "ready-file": "Only the leader is Ready, and so only the leader is reached",
  label: "All replicas are Ready, and the Service finds the leader by its label",
  endpointslice: "All replicas are Ready, and the leader writes itself into the Service's EndpointSlice",
  configmap:
    "Only the leader is Ready, and so only the leader is reached; a ConfigMap names it for who wants to know",
};

const security = {
  securityContext: "What is not needed cannot be misused: no root, no writable image, no capabilities.",
  livenessProbe:
    "Fails for a leader that did not stop when its time ran out, and for a replica that has not heard of the lease for too long.",
};

const container = (at: string, mode: CheckedOptions["mode"]): Comments => ({
  [`${at}.args`]: (options) =>
    mode === "run" && options.mode === "run"
      ? "The image's entry point is tenure; what stands after -- runs on the leader alone."
      : undefined,
  [`${at}.env`]: (options) =>
    options.mode === "sidecar" && mode === "run"
      ? "Where the application asks who leads."
      : "The pod's name is the identity of the candidate: it must be another one in every replica.",
  [`${at}.livenessProbe`]: security.livenessProbe,
  [`${at}.readinessProbe`]: readinessWords,
  [`${at}.securityContext`]: security.securityContext,
});

function readinessWords({ isOnlyLeaderReady }: CheckedOptions): string {
  return isOnlyLeaderReady
    ? "The file is there while this replica leads and is ready to serve. Every other replica stays out of the Service."
    : "Standbys are Ready too: a rollout that waits for Ready pods never waits for the lease.";
}

const comments: Readonly<Record<string, Comments>> = {
  ServiceAccount: {
    automountServiceAccountToken: "Only pods that ask for the token get it.",
  },
  Role: {
    "rules[0]": "A create cannot be restricted to a name: the API server does not know the name yet.",
    "rules[1]":
      "This lease and no other. The watch is one of this name alone, which resourceNames allow; nothing is listed.",
    "rules[2]": ({ traffic }) => {
      switch (traffic) {
        case "label":
          return "To label its own pod, and to take the label from a dead leader's. A pod's name is not known here, so it is any pod of the namespace.";
        case "endpointslice":
          return "To learn the ports of its Service.";
        case "configmap":
          return "To name the leader in the ConfigMap.";
        default:
          return undefined;
      }
    },
  },
  ConfigMap: {
    apiVersion:
      "The leader writes its name here, under the key leader; who mounts it learns of it within a minute or so. " +
      "No data in this file, so that applying it again does not take the name away.",
  },
  Deployment: {
    "spec.strategy": ({ isOnlyLeaderReady, strategy }) => {
      if (strategy === "recreate")
        return "All old pods stop before new ones start: nobody serves in between.";
      return isOnlyLeaderReady
        ? "All at once. Only the leader is Ready, and a Deployment that must keep one Ready pod keeps the old leader, " +
            "whose lease the new pods wait for: with any smaller maxUnavailable a rollout never ends. " +
            "With --traffic label or endpointslice pods are replaced one by one."
        : "A new standby is Ready before an old pod goes.";
    },
    "spec.template.metadata.labels": ({ traffic }) =>
      traffic === "label"
        ? "A leader finds the pods of its election by these, also such as have just been born."
        : undefined,
    "spec.template.spec.terminationGracePeriodSeconds": ({ stopTimeout, gracePeriod, mode }) =>
      mode === "library"
        ? `Longer than the application needs to stop (${stopTimeout} s) and to release the lease.`
        : `Nests: ${stopTimeout} s for the program to stop, then ${gracePeriod - stopTimeout} s to leave traffic and release the lease.`,
    "spec.template.spec.securityContext": security.securityContext,
    "spec.template.spec.topologySpreadConstraints": "A standby on the leader's node dies with it.",
    "spec.template.spec.initContainers":
      "A sidecar in the sense of Kubernetes 1.29 and later: it starts before the application and stops after it, so that the lease is released only when the application has stopped.",
    "spec.template.spec.volumes[0]": "The only place that can be written to.",
    ...container("spec.template.spec.containers[0]", "run"),
    ...container("spec.template.spec.initContainers[0]", "sidecar"),
  },
  Service: {
    "spec.selector": ({ traffic }) =>
      traffic === "label"
        ? "The leader labels its own pod, and looks after the label at every renewal."
        : undefined,
    "spec.ports": ({ traffic }) =>
      traffic === "endpointslice" ? "No selector: the leader says where it is reached." : undefined,
  },
  PodDisruptionBudget: {
    spec: "One at a time when nodes are drained. Pods that are not Ready may go in any case.",
  },
};
