/** Leases that are not elections: the heartbeats of nodes and the identities of API servers. */
import type { ElectionState } from "./state.ts";

/** Every node renews a Lease in this namespace as a heartbeat. */
const heartbeatNamespace = "kube-node-lease";

export function isNodeHeartbeat({ namespace }: ElectionState): boolean {
  return namespace === heartbeatNamespace;
}

/** kube-apiserver renews such a Lease to announce itself. */
export function isApiServerIdentity({ kind, object }: ElectionState): boolean {
  return kind === "lease" && object.metadata.labels?.["apiserver.kubernetes.io/identity"] !== undefined;
}

/** A Lease counts as an election if it has a holder or counts transitions. */
export function isElection(
  state: ElectionState,
  { withHeartbeats = false }: { readonly withHeartbeats?: boolean } = {},
): boolean {
  if (state.kind !== "lease") return true;
  if (!withHeartbeats && isNodeHeartbeat(state)) return false;
  const { spec } = state.object;
  return Boolean(spec?.holderIdentity) || spec?.leaseTransitions !== undefined;
}
