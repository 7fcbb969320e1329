/** Leases that are not elections: heartbeats of nodes, identities of API servers, candidates, members of shards and semaphores. */
import { candidateLabel, setLabels } from "@tenure/election/internal";
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

/** The Lease of a candidate, or of a member of shards or a semaphore, and the Lease with the map of a set. */
export function isOfParticipant({ object }: ElectionState): boolean {
  const { labels = {} } = object.metadata;
  return [candidateLabel, ...Object.values(setLabels)].some((label) => labels[label] !== undefined);
}

/** A Lease counts as an election if it has a holder or counts transitions. */
export function isElection(
  state: ElectionState,
  { withHeartbeats = false }: { readonly withHeartbeats?: boolean } = {},
): boolean {
  if (state.kind !== "lease") return true;
  if (isOfParticipant(state)) return false;
  if (!withHeartbeats && isNodeHeartbeat(state)) return false;
  const { spec } = state.object;
  return Boolean(spec?.holderIdentity) || spec?.leaseTransitions !== undefined;
}
