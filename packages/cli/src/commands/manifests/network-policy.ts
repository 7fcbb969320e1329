/**
 * Who may connect to the pods. Everybody may connect to the application; only the pods of one namespace, if any, to the status
 * port. Probes come from the node of the pod, whose connections no NetworkPolicy rejects.
 */
import { podLabels } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

export function networkPolicySpec(options: CheckedOptions): object {
  const { port, statusPort, scrapeNamespace } = options;
  return {
    podSelector: { matchLabels: podLabels(options) },
    policyTypes: ["Ingress"],
    ingress: [
      ...(port === undefined ? [] : [{ ports: [{ port }] }]),
      ...(scrapeNamespace === undefined
        ? []
        : [
            {
              from: [
                { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": scrapeNamespace } } },
              ],
              ports: [{ port: statusPort }],
            },
          ]),
    ],
  };
}
