/**
 * Narrows the rights on Leases, which RBAC can give only for all Leases of a namespace: a replica may change only the lock of its
 * election and the Leases of its candidates. Not prevented: a replica that was taken over can change the Lease of another candidate,
 * which only operators read.
 */
import { candidateLeasePrefix } from "@tenure/election/internal";
import { type KubernetesObject, podLabels } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

const apiVersion = "admissionregistration.k8s.io/v1";

export function leasePolicy(options: CheckedOptions): KubernetesObject[] {
  if (!options.admissionPolicy || !options.register) return [];
  const { name, namespace } = options;
  const policyName = `tenure.${namespace}.${name}.leases`;
  const metadata = { name: policyName, labels: podLabels(options) };
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ["coordination.k8s.io"],
              apiVersions: ["v1"],
              operations: ["UPDATE", "DELETE"],
              resources: ["leases"],
            },
          ],
        },
        matchConditions: [
          {
            name: "is-a-replica",
            expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${name}'`,
          },
        ],
        validations: [
          {
            expression: `request.name == '${name}' || request.name.startsWith('${candidateLeasePrefix(name)}')`,
            message: `a replica of the election ${name} may change only its lock and the Leases of its candidates`,
          },
        ],
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: {
        policyName,
        validationActions: ["Deny"],
        matchResources: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        },
      },
    },
  ];
}
