/** The objects of the Prometheus operator for one election: what to scrape, and when to alert. */
import { podLabels } from "../names.ts";
import type { CheckedOptions } from "../options.ts";
import { electionAlerts } from "./alerts.ts";

export function podMonitorSpec(options: CheckedOptions): object {
  return {
    selector: { matchLabels: podLabels(options) },
    // The operator adds the labels namespace and pod.
    podMetricsEndpoints: [{ port: "status", path: "/metrics", interval: "15s" }],
  };
}

export function prometheusRuleSpec({ name, namespace, replicas, runbookUrl }: CheckedOptions): object {
  const selector = `namespace="${namespace}",name="${name}"`;
  return {
    groups: [{ name: `tenure-${name}`, rules: electionAlerts({ selector, replicas, runbooks: runbookUrl }) }],
  };
}
