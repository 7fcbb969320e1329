/** All kinds that are stored. Their order is the order in which discovery names them. */
import { configMap, secret, serviceAccount } from "./config.ts";
import { event, eventsEvent } from "./event.ts";
import type { Kind } from "./kind.ts";
import { lease, leaseCandidate } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { endpointSlice, endpoints, service } from "./network.ts";
import { node } from "./node.ts";
import { pod } from "./pod.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "./rbac.ts";
import { deployment, replicaSet } from "./workload.ts";

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
