/**
 * The candidates of an election, as they show themselves: one Lease for each. A candidate without the permission, with --no-register,
 * of an older version or of another kind (client-go) does not show itself, so the list may be incomplete.
 */
import { candidateAnnotations, candidateLabel, candidateLabelValue } from "@tenure/election/internal";
import { KubeError } from "@tenure/kube";
import type { Reader } from "./find.ts";
import { collectionPath, type LockObject } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface Candidate {
  readonly identity: string;
  /** Whether it has shown itself lately. */
  readonly isPresent: boolean;
  /** What it was doing when it last showed itself: "waiting", for example. */
  readonly standing: string;
  /** Why it does not lead, in its own words. */
  readonly reason: string;
  /** Time since it last showed itself. */
  readonly seenMs: number | undefined;
}

/** Sorted by identity. Undefined if they cannot be listed. */
export async function listCandidates(
  reader: Reader,
  election: Pick<ElectionState, "namespace" | "name" | "record">,
): Promise<readonly Candidate[] | undefined> {
  if (reader.store !== undefined) return undefined;
  try {
    const { items } = await reader.serverClock.during(() =>
      reader.client.request<{ items: LockObject[] }>({
        method: "GET",
        path: collectionPath("lease", election.namespace),
        query: { labelSelector: `${candidateLabel}=${candidateLabelValue(election.name)}` },
      }),
    );
    const nowMs = reader.serverClock.nowMs();
    const states = items.map((object) => stateOf("lease", object, nowMs));
    return candidatesAmong(
      election,
      states.filter((state) => state !== undefined),
    );
  } catch (error) {
    if (error instanceof KubeError && error.code === "Forbidden") return undefined;
    throw error;
  }
}

/** The candidates of an election among all Leases of a cluster. */
export function candidatesAmong(
  { namespace, name, record }: Pick<ElectionState, "namespace" | "name" | "record">,
  leases: readonly ElectionState[],
): readonly Candidate[] {
  return leases
    .filter((lease) => lease.namespace === namespace && electionOf(lease) === name)
    .map((lease) => candidateOf(lease, record.holderIdentity))
    .sort((a, b) => (a.identity < b.identity ? -1 : 1));
}

/** The name of the election in which the owner of this Lease takes part. Undefined if it is not the Lease of a candidate. */
export function electionOf({ kind, object }: ElectionState): string | undefined {
  const { labels, annotations } = object.metadata;
  const label = kind === "lease" ? labels?.[candidateLabel] : undefined;
  return label === undefined ? undefined : (annotations?.[candidateAnnotations.election] ?? label);
}

function candidateOf({ object, record, standing, ageMs }: ElectionState, holder: string): Candidate {
  const { annotations = {} } = object.metadata;
  const identity = record.holderIdentity;
  const shown = annotations[candidateAnnotations.standing] ?? "unknown";
  const reason = annotations[candidateAnnotations.reason] ?? "";
  const common = { identity, isPresent: standing === "led", seenMs: ageMs };
  // A candidate writes at most twice a minute, and the lock is newer.
  if (identity === holder) return { ...common, standing: "leading", reason: "leads" };
  if (shown === "leading") return { ...common, standing: "waiting", reason: "led until a moment ago" };
  return { ...common, standing: shown, reason };
}

/** The candidates that could take over. */
export function standbysOf(
  candidates: readonly Candidate[],
  leader: string | undefined,
): readonly Candidate[] {
  return candidates.filter(({ identity, isPresent }) => isPresent && identity !== leader);
}
