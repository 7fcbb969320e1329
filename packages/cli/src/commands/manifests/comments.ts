/** The comments in the manifests, each above the field that it explains. A path that does not occur is ignored. */
import type { KubernetesObject } from "./names.ts";
import type { CheckedOptions, TrafficMode } from "./options.ts";

type Comments = Readonly<
  Record<string, string | ((options: CheckedOptions, object: KubernetesObject) => string | undefined)>
>;

export function commentFor(
  object: KubernetesObject,
  path: string,
  options: CheckedOptions,
): string | undefined {
  const text = comments[object.kind]?.[path];
  return typeof text === "function" ? text(options, object) : text;
}

/** The comment at the top: what this is, and what is left out on purpose. */
export function preamble(options: CheckedOptions): string[] {
  const { name, namespace, mode, traffic } = options;
  return [
    `${name} in namespace ${namespace}: one of ${options.replicas} replicas leads. ${modeTexts[mode]}. ${trafficTexts[traffic]}.`,
    ...(options.isOnlyLeaderReady
      ? [
          "No PodDisruptionBudget: only the leader is Ready, and a budget that protects it would block draining its node forever.",
          `kubectl rollout status never succeeds: it waits until all ${options.replicas} replicas are Ready, but only one ever is. Wait for the leader instead: kubectl wait deployment/${name} -n ${namespace} --for=jsonpath='{.status.readyReplicas}'=1`,
        ]
      : []),
  ];
}

const modeTexts = {
  run: "tenure runs the program on the leader",
  sidecar: "tenure runs beside the application, which asks it who leads",
  library: "The application runs the election itself",
};

const trafficTexts: Record<TrafficMode, string> = {
  none: "A Service, if there is one, reaches every Ready replica",
  "ready-file": "Only the leader is Ready, so only the leader receives traffic",
  label: "All replicas are Ready, and the Service selects the leader by its label",
  endpointslice: "All replicas are Ready, and the leader writes itself into the Service's EndpointSlice",
  configmap: "Only the leader is Ready, so only the leader receives traffic; a ConfigMap contains its name",
};

const securityText = "Least privilege: no root, no writable root file system, no capabilities.";

const container = (at: string, mode: CheckedOptions["mode"]): Comments => ({
  [`${at}.args`]: (options) =>
    mode === "run" && options.mode === "run"
      ? "The entry point of the image is tenure. The command after -- runs only on the leader."
      : undefined,
  [`${at}.env`]: (options) =>
    options.mode === "sidecar" && mode === "run"
      ? "Where the application asks who leads."
      : "The pod's name is the identity of the candidate, which must be different in every replica.",
  [`${at}.livenessProbe`]:
    "Fails if a leader has not stopped after its lease expired, or if a replica has had no contact with the lease for too long.",
  [`${at}.readinessProbe`]: readinessText,
  [`${at}.securityContext`]: securityText,
});

function readinessText({ isOnlyLeaderReady }: CheckedOptions): string {
  return isOnlyLeaderReady
    ? "The file exists while this replica leads and can serve. All other replicas stay out of the Service."
    : "Standbys are Ready too, so a rollout that waits for Ready pods never waits for the lease.";
}

const narrowed = (isNarrowed: boolean) =>
  isNarrowed
    ? "The ValidatingAdmissionPolicy below narrows it."
    : "--admission-policy adds a policy that narrows it.";

function registerText({ admissionPolicy }: CheckedOptions): string {
  return (
    "Each candidate shows itself in a Lease of its own, for tenure status and tenure transfer. Their names are not known in advance, so this covers all " +
    `Leases of the namespace, also those of other elections. ${narrowed(admissionPolicy)} --no-register leaves it out.`
  );
}

function trafficRuleText({ traffic, admissionPolicy }: CheckedOptions): string | undefined {
  switch (traffic) {
    case "label":
      return (
        "To label its own pod and to remove the label of a dead leader. Pod names are not known in advance, so this covers all pods of the namespace. " +
        narrowed(admissionPolicy)
      );
    case "endpointslice":
      return "To read the ports of its Service.";
    case "configmap":
      return "To write the leader's name into the ConfigMap.";
    default:
      return undefined;
  }
}

const comments: Readonly<Record<string, Comments>> = {
  ServiceAccount: {
    automountServiceAccountToken: "Only pods that ask for the token get it.",
  },
  Role: {
    "rules[0]":
      "create cannot be restricted by resourceNames, because the object has no name when the API server authorizes the request.",
    "rules[1]":
      "Only this lease. The watch selects this one name, which resourceNames allow; nothing needs the verb list.",
    "rules[2]": (options) => (options.register ? registerText(options) : trafficRuleText(options)),
    "rules[3]": (options) => (options.register ? trafficRuleText(options) : undefined),
  },
  ConfigMap: {
    apiVersion:
      "The leader writes its name here, under the key leader. A pod that mounts it sees a change within about a minute. " +
      "There is no data here, so applying this file again does not remove the name.",
  },
  Deployment: {
    "spec.strategy": ({ isOnlyLeaderReady, strategy }) => {
      if (strategy === "recreate")
        return "All old pods stop before new ones start. Nothing serves in between.";
      return isOnlyLeaderReady
        ? "All pods are replaced at once. Only the leader is Ready, so a Deployment that must keep a Ready pod would keep the " +
            "old leader, while the new pods wait for its lease: with any smaller maxUnavailable a rollout hangs. " +
            "With --traffic label or endpointslice, pods are replaced one by one."
        : "A new standby is Ready before an old pod stops.";
    },
    "spec.template.metadata.labels": ({ traffic }) =>
      traffic === "label"
        ? "A leader finds the pods of its election by these labels, including pods that have just been created."
        : undefined,
    "spec.template.spec.automountServiceAccountToken": ({ mode }) =>
      mode === "sidecar"
        ? "Only the sidecar gets the token, from the volume below. The application needs no right in the cluster."
        : undefined,
    "spec.template.spec.terminationGracePeriodSeconds": ({ stopTimeout, gracePeriod, mode }) => {
      if (mode === "library")
        return `Longer than the application needs to stop (${stopTimeout} s) and to release the lease.`;
      const times = `${stopTimeout} s for the program to stop, then ${gracePeriod - stopTimeout} s to leave traffic and release the lease.`;
      return mode === "sidecar"
        ? `${times} The sidecar is stopped only when the application has exited. An application that ignores SIGTERM keeps the lease for all ${gracePeriod} s, and nobody serves: ` +
            "a program without a handler for SIGTERM ignores it if it is process 1 of its container. Handle SIGTERM, or start the program with an init such as tini."
        : times;
    },
    "spec.template.spec.securityContext": securityText,
    "spec.template.spec.topologySpreadConstraints":
      "If the leader's node fails, a standby on the same node fails too.",
    "spec.template.spec.initContainers":
      "A native sidecar (Kubernetes 1.29 or later): it starts before the application and stops after it, so the lease is released only after the application has stopped.",
    "spec.template.spec.volumes[0]": "The only writable directory.",
    "spec.template.spec.volumes[1]":
      "What Kubernetes mounts into every container by default. Only the sidecar mounts this one.",
    ...container("spec.template.spec.containers[0]", "run"),
    ...container("spec.template.spec.initContainers[0]", "sidecar"),
  },
  Service: {
    "spec.selector": ({ traffic }) =>
      traffic === "label"
        ? "The leader labels its own pod, and checks the label at every renewal."
        : undefined,
    "spec.ports": ({ traffic }) =>
      traffic === "endpointslice" ? "No selector: the leader writes the endpoints." : undefined,
  },
  NetworkPolicy: {
    "spec.ingress": ({ scrapeNamespace, statusPort }) =>
      `Probes come from the node, whose connections are always allowed. ${scrapeNamespace === undefined ? "No pod" : `Of all pods, only those of namespace ${scrapeNamespace}`} may connect to the status port ${statusPort}.`,
  },
  ValidatingAdmissionPolicy: {
    apiVersion: ({ name }, { metadata }) =>
      metadata.name.endsWith(".leases")
        ? `RBAC can only allow patch and delete on all Leases of a namespace. With this policy, the replicas of ${name} may change only their own lock and the Leases of its candidates. ` +
          "Needs Kubernetes 1.30, and a cluster administrator to apply it."
        : `RBAC can only allow patch on all pods of a namespace. With this policy, the replicas of ${name} may change only their own labels and annotations, only on pods of their election, ` +
          "and each may name only its own pod as the leader. A replica that was taken over can still name itself the leader. Needs Kubernetes 1.30, and a cluster administrator to apply it.",
    "spec.variables[0]": "The pod that the API server issued the token of the request to.",
  },
  PodMonitor: {
    apiVersion:
      "Needs the Prometheus operator. A Prometheus that selects PodMonitors by a label selects this one only with that label.",
  },
  PrometheusRule: {
    "spec.groups": "What each alert means and what to do about it: docs/tasks/alerts.md.",
  },
  PodDisruptionBudget: {
    spec: "When nodes are drained, one pod at a time is evicted. Pods that are not Ready may always be evicted.",
  },
};
