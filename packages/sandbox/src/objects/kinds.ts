/** All kinds that are stored. Their order is the order in which discovery names them. */
import type { Kind } from "./kind.ts";
import { configMap, secret, serviceAccount } from "./kinds/config.ts";
import { event, eventsEvent } from "./kinds/event.ts";
import { lease, leaseCandidate } from "./kinds/lease.ts";
import { namespace } from "./kinds/namespace.ts";
import { endpointSlice, endpoints, service } from "./kinds/network.ts";
import { node } from "./kinds/node.ts";
import { pod } from "./kinds/pod.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./kinds/rbac.ts";
import { deployment, replicaSet } from "./kinds/workload.ts";

export const kinds: readonly Kind[] = [
  configMap,
  endpoints,
  event,
  namespace,
  node,
  pod,
  secret,
  serviceAccount,
  service,
  deployment,
  replicaSet,
  eventsEvent,
  clusterRoleBinding,
  clusterRole,
  roleBinding,
  role,
  lease,
  leaseCandidate,
  endpointSlice,
];

const byResource = new Map(kinds.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind]));

export function findKind(group: string, version: string, resource: string): Kind | undefined {
  return byResource.get(`${group}/${version}/${resource}`);
}
