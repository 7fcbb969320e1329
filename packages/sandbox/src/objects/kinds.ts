/** All kinds that are stored. Their order is the order in which discovery names them. */
import { apiVersion, type Kind } from "./kind.ts";
import { cronJob, job } from "./kinds/batch.ts";
import { certificateSigningRequest, priorityClass, runtimeClass } from "./kinds/cluster.ts";
import { configMap, secret, serviceAccount } from "./kinds/config.ts";
import { event, eventsEvent } from "./kinds/event.ts";
import { lease, leaseCandidate } from "./kinds/lease.ts";
import { namespace } from "./kinds/namespace.ts";
import { endpointSlice, endpoints, service } from "./kinds/network.ts";
import { ingress, ingressClass, ipAddress, networkPolicy, serviceCidr } from "./kinds/networking.ts";
import { node } from "./kinds/node.ts";
import { pod } from "./kinds/pod.ts";
import {
  mutatingWebhookConfiguration,
  podDisruptionBudget,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
} from "./kinds/policy.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./kinds/rbac.ts";
import {
  controllerRevision,
  horizontalPodAutoscaler,
  podTemplate,
  replicationController,
} from "./kinds/replication.ts";
import {
  deviceClass,
  limitRange,
  resourceClaim,
  resourceClaimTemplate,
  resourceQuota,
  resourceSlice,
} from "./kinds/resource.ts";
import {
  csiDriver,
  csiNode,
  csiStorageCapacity,
  persistentVolume,
  persistentVolumeClaim,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
} from "./kinds/storage.ts";
import { daemonSet, deployment, replicaSet, statefulSet } from "./kinds/workload.ts";

export const kinds: readonly Kind[] = [
  configMap,
  endpoints,
  event,
  limitRange,
  namespace,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podTemplate,
  replicationController,
  resourceQuota,
  secret,
  serviceAccount,
  service,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  statefulSet,
  eventsEvent,
  horizontalPodAutoscaler,
  cronJob,
  job,
  certificateSigningRequest,
  clusterRoleBinding,
  clusterRole,
  roleBinding,
  role,
  lease,
  leaseCandidate,
  endpointSlice,
  ingress,
  ingressClass,
  ipAddress,
  networkPolicy,
  serviceCidr,
  runtimeClass,
  podDisruptionBudget,
  deviceClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  priorityClass,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
];

const byResource = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind]));

export function findKind(group: string, version: string, resource: string): Kind | undefined {
  return byResource.get(`${group}/${version}/${resource}`);
}

const byType = new Map(kinds.map((kind) => [`${apiVersion(kind)} ${kind.kind}`, kind]));

/** The kind with this apiVersion and name, as objects and owner references state them. */
export function kindOf(reference: { apiVersion: string; kind: string }): Kind | undefined {
  return byType.get(`${reference.apiVersion} ${reference.kind}`);
}
