/**
 * Narrows the right to patch pods, which RBAC can give only for all pods of a namespace: a replica may change only pods of its
 * election, there only the labels and annotations of tenure, and may name only its own pod as the leader. "Its own pod" is the
 * one that the API server bound the token of the request to.
 * Not prevented: a replica that was taken over can name itself the leader, and can take the other replicas out of traffic.
 */
import { electionLabelValue, podLabelKeys } from "@tenure/traffic/internal";
import { type KubernetesObject, podLabels } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

const apiVersion = "admissionregistration.k8s.io/v1";

/** The objects are not in a namespace, so their name contains it. No namespace contains a dot, so no two elections share a name. */
const admissionPolicyName = ({ name, namespace }: CheckedOptions) => `tenure.${namespace}.${name}`;

export function admissionPolicy(options: CheckedOptions): KubernetesObject[] {
  if (!options.admissionPolicy || options.traffic !== "label") return [];
  const { name, namespace } = options;
  const metadata = { name: admissionPolicyName(options), labels: podLabels(options) };
  const { role, election, annotations } = podLabelKeys;
  const labelOf = (object: string, key: string) => `${object}.metadata.?labels[?'${key}'].orValue('')`;
  const own = electionLabelValue(name);
  const keysOf = (keys: readonly string[]) => `[${keys.map((key) => `'${key}'`).join(", ")}]`;
  const onlyChanges = (field: string, keys: readonly string[]) => {
    const [now, before] = [`variables.${field}`, `variables.${field}Before`];
    const isKept = (one: string, other: string) =>
      `${one}.all(key, key in ${keysOf(keys)} || (key in ${other} && ${other}[key] == ${one}[key]))`;
    return `${isKept(now, before)} && ${isKept(before, now)}`;
  };
  return [
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods"] },
          ],
        },
        matchConditions: [
          {
            name: "is-a-replica",
            expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${name}'`,
          },
        ],
        variables: [
          {
            name: "ownPod",
            expression:
              "request.userInfo.?extra[?'authentication.kubernetes.io/pod-uid'].orValue(['nobody'])[0]",
          },
          ...["labels", "annotations"].flatMap((field) => [
            { name: field, expression: `object.metadata.?${field}.orValue({})` },
            { name: `${field}Before`, expression: `oldObject.metadata.?${field}.orValue({})` },
          ]),
        ],
        validations: [
          {
            expression: `${labelOf("oldObject", election)} == '${own}' && ${labelOf("object", election)} == '${own}'`,
            message: `a replica of the election ${name} may change only pods of this election`,
          },
          {
            expression: `${labelOf("object", role)} == 'standby' || (${labelOf("object", role)} == 'leader' && object.metadata.uid == variables.ownPod)`,
            message: "a replica may name only its own pod as the leader",
          },
          {
            expression: `${onlyChanges("labels", [role, election])} && ${onlyChanges("annotations", annotations)}`,
            message: "a replica may change no other label or annotation",
          },
          {
            expression:
              "object.spec == oldObject.spec && " +
              ["finalizers", "ownerReferences"]
                .map(
                  (field) =>
                    `object.metadata.?${field}.orValue([]) == oldObject.metadata.?${field}.orValue([])`,
                )
                .join(" && "),
            message: "a replica may change only labels and annotations",
          },
        ],
      },
    },
    {
      apiVersion,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: {
        policyName: admissionPolicyName(options),
        validationActions: ["Deny"],
        matchResources: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        },
      },
    },
  ];
}
