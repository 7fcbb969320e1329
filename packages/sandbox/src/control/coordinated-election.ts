/**
 * Chooses the leader of a coordinated election, as the controller in kube-apiserver does: the candidate with the lowest emulation
 * version, then the lowest version, then the oldest. Pure: it says what to write, and when to look again.
 *
 * Like the original, it compares the times in Leases and LeaseCandidates, which their owners wrote, with its own clock.
 */

export interface ElectionCandidate {
  readonly name: string;
  readonly binaryVersion: string;
  readonly emulationVersion: string;
  readonly strategy: string;
  readonly createdMs: number;
  /** NaN if it was never renewed or pinged. */
  readonly renewMs: number;
  readonly pingMs: number;
}

export interface ElectionLease {
  readonly holder: string;
  readonly preferredHolder: string;
  /** When it expires. NaN if it has no times. */
  readonly expiresMs: number;
}

export type ElectionAction =
  /** Asks a candidate whether it is alive. */
  | { readonly type: "ping"; readonly name: string }
  /** Writes the leader into a Lease that nobody holds. */
  | { readonly type: "name"; readonly holder: string; readonly strategy: string }
  /** Asks the holder to make way. */
  | { readonly type: "prefer"; readonly holder: string; readonly strategy: string };

export interface ElectionDecision {
  readonly actions: readonly ElectionAction[];
  /** Undefined: not before something changes. */
  readonly againMs: number | undefined;
}

/** How long a candidate may take to answer, and how old an answer may be. */
const answerMs = 5_000;
/** How often an election without news is looked at. */
const lookMs = 5_000;
/** The lease of a leader that was named, until it renews. */
export const namedLeaseSeconds = 5;

export function decideElection(
  candidates: readonly ElectionCandidate[],
  lease: ElectionLease | undefined,
  nowMs: number,
): ElectionDecision {
  const nothing = { actions: [], againMs: undefined };
  if (candidates.length === 0) return nothing;
  const isFree = lease === undefined || lease.holder === "" || !(lease.expiresMs > nowMs);
  const expected = best(candidates, strategyOf(candidates));
  if (!isFree && (expected === undefined || expected.name === lease.holder))
    return { actions: [], againMs: lookMs };

  const open = candidates.filter((candidate) => isAsked(candidate) && candidate.pingMs + answerMs > nowMs);
  if (open.length > 0) {
    const untilMs = Math.max(...open.map(({ pingMs }) => pingMs)) + answerMs;
    return { actions: [], againMs: untilMs - nowMs };
  }
  const isOverdue = candidates.some(isAsked);
  const silent = candidates.filter(({ renewMs }) => !(renewMs + answerMs > nowMs));
  if (!isOverdue && silent.length > 0)
    return { actions: silent.map(({ name }) => ({ type: "ping", name })), againMs: answerMs };

  const alive = candidates.filter(({ renewMs }) => renewMs + answerMs > nowMs);
  const strategy = strategyOf(alive);
  const chosen = best(alive, strategy);
  if (chosen === undefined || strategy === undefined) {
    // Silent candidates that were asked before are asked again, once they have answered.
    return alive.length === 0 ? { actions: [], againMs: lookMs } : nothing;
  }
  if (isFree) return { actions: [{ type: "name", holder: chosen.name, strategy }], againMs: lookMs };
  if (chosen.name === lease.holder || chosen.name === lease.preferredHolder)
    return { actions: [], againMs: lookMs };
  return { actions: [{ type: "prefer", holder: chosen.name, strategy }], againMs: lookMs };
}

/** It was pinged and has not answered. */
function isAsked({ pingMs, renewMs }: ElectionCandidate): boolean {
  return !Number.isNaN(pingMs) && !(renewMs >= pingMs);
}

/** The strategy of the candidate with the highest version. Undefined if candidates of that version disagree. */
function strategyOf(candidates: readonly ElectionCandidate[]): string | undefined {
  const highest = candidates.reduce<ElectionCandidate | undefined>(
    (found, each) => (!found || compareVersions(each.binaryVersion, found.binaryVersion) > 0 ? each : found),
    undefined,
  );
  const same = candidates.filter(
    (each) => highest && compareVersions(each.binaryVersion, highest.binaryVersion) === 0,
  );
  return same.every(({ strategy }) => strategy === highest?.strategy) ? highest?.strategy : undefined;
}

/** Undefined if another program has to choose, because the strategy is not one of Kubernetes. */
function best(
  candidates: readonly ElectionCandidate[],
  strategy: string | undefined,
): ElectionCandidate | undefined {
  if (strategy !== "OldestEmulationVersion") return undefined;
  return [...candidates].sort(
    (a, b) =>
      compareVersions(a.emulationVersion, b.emulationVersion) ||
      compareVersions(a.binaryVersion, b.binaryVersion) ||
      a.createdMs - b.createdMs ||
      (a.name < b.name ? -1 : 1),
  )[0];
}

function compareVersions(a: string, b: string): number {
  const numbers = (version: string) => version.split(/[-+]/)[0]?.split(".").map(Number) ?? [];
  const [left, right] = [numbers(a), numbers(b)];
  const index = left.findIndex((part, position) => part !== right[position]);
  return index < 0 ? 0 : (left[index] as number) - (right[index] ?? 0);
}
