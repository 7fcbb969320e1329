/**
 * The manifests as data, in the order in which they are printed and applied. Pure. Tests compare deploy/ (kustomize, Helm)
 * with these objects.
 */
import { admissionPolicy } from "./admission-policy.ts";
import { leasePolicy } from "./lease-policy.ts";
import { podMonitorSpec, prometheusRuleSpec } from "./monitoring/monitoring.ts";
import { configMapName, type KubernetesObject, leaderLabels, podLabels } from "./names.ts";
import { networkPolicySpec } from "./network-policy.ts";
import { type CheckedOptions, checkOptions, type ManifestOptions } from "./options.ts";
import { podTemplate } from "./pod.ts";
import { rulesFor } from "./rules.ts";

/** @throws CliError with every problem in the options */
export function objectsFor(given: ManifestOptions): KubernetesObject[] {
  const options = checkOptions(given);
  const { name, namespace, traffic } = options;
  const object = (apiVersion: string, kind: string, fields: object, of = name): KubernetesObject => ({
    apiVersion,
    kind,
    metadata: { name: of, namespace, labels: podLabels(options) },
    ...fields,
  });
  const rbac = "rbac.authorization.k8s.io";
  return [
    object("v1", "ServiceAccount", { automountServiceAccountToken: false }),
    object(`${rbac}/v1`, "Role", { rules: rulesFor(options) }),
    object(`${rbac}/v1`, "RoleBinding", {
      roleRef: { apiGroup: rbac, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    }),
    ...(traffic === "configmap" ? [object("v1", "ConfigMap", {}, configMapName(options))] : []),
    object("apps/v1", "Deployment", { spec: deploymentSpec(options) }),
    ...(options.port === undefined ? [] : [object("v1", "Service", { spec: serviceSpec(options) })]),
    // If only the leader is Ready, a budget that protects it would block draining its node forever.
    ...(options.isOnlyLeaderReady
      ? []
      : [object("policy/v1", "PodDisruptionBudget", { spec: budgetSpec(options) })]),
    ...(options.networkPolicy
      ? [object("networking.k8s.io/v1", "NetworkPolicy", { spec: networkPolicySpec(options) })]
      : []),
    ...(options.monitoring
      ? [
          object("monitoring.coreos.com/v1", "PodMonitor", { spec: podMonitorSpec(options) }),
          object("monitoring.coreos.com/v1", "PrometheusRule", { spec: prometheusRuleSpec(options) }),
        ]
      : []),
    ...admissionPolicy(options),
    ...leasePolicy(options),
  ];
}

function deploymentSpec(options: CheckedOptions): object {
  const { replicas, strategy } = options;
  return {
    replicas,
    selector: { matchLabels: podLabels(options) },
    strategy:
      strategy === "recreate" ? { type: "Recreate" } : { type: "RollingUpdate", rollingUpdate: strategy },
    template: podTemplate(options),
  };
}

function serviceSpec(options: CheckedOptions): object {
  const ports = [{ name: "app", port: options.port, targetPort: "app" }];
  switch (options.traffic) {
    case "label":
      return { selector: leaderLabels(options), ports };
    case "endpointslice":
      return { ports: [{ name: "app", port: options.port, targetPort: options.port }] };
    default:
      return { selector: podLabels(options), ports };
  }
}

function budgetSpec(options: CheckedOptions): object {
  return {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
    selector: { matchLabels: podLabels(options) },
  };
}
