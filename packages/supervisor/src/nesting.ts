/**
 * Timeouts that nest (B8): whoever stops somebody must wait longer than that somebody may take, at every level.
 *
 *     pod grace period > supervisor stops the child > the child shuts down > it drains its work
 *     renewDeadline + time to kill <= hard deadline < leaseDuration
 */
import { formatDuration, hardDeadlineFor } from "@tenure/core";

export interface Timeouts {
  /** terminationGracePeriodSeconds of the pod: after it the kubelet kills everything. @default not checked */
  readonly podGraceMs?: number;
  /** How long the supervisor waits for the child before it kills it. */
  readonly stopTimeoutMs: number;
  /** How long the child says that it takes to shut down. @default not checked */
  readonly childShutdownMs?: number;
  /** How long the child lets work in flight finish. @default not checked */
  readonly drainMs?: number;
  /** The election's: how long others wait. @default not checked */
  readonly leaseDurationMs?: number;
  /** The election's: when a leader that cannot renew stops. @default not checked */
  readonly renewDeadlineMs?: number;
  /** How long before the hard deadline the child of a lost term is killed. @default 500 */
  readonly killMarginMs?: number;
  /** What each level must leave to the one above it. @default 1_000 */
  readonly marginMs?: number;
}

/** Every violation in a sentence with the numbers and the way out; none when all nests. */
export function checkNesting(timeouts: Timeouts): string[] {
  const { killMarginMs = 500, marginMs = 1_000 } = timeouts;
  const problems: string[] = [];
  const levels = [
    ["the pod's grace period", timeouts.podGraceMs],
    ["the stop timeout", timeouts.stopTimeoutMs],
    ["the child's own shutdown", timeouts.childShutdownMs],
    ["the child's drain", timeouts.drainMs],
  ] as const;
  for (const [name, ms] of levels) {
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0))
      problems.push(`${name} must be greater than zero: ${ms}ms`);
  }
  const given = levels.filter(([, ms]) => ms !== undefined && Number.isFinite(ms) && ms > 0);
  for (const [index, [inner, innerMs]] of given.entries()) {
    const [outer, outerMs] = given[index - 1] ?? [];
    if (outer === undefined || (outerMs as number) >= (innerMs as number) + marginMs) continue;
    problems.push(
      `${outer} must be at least ${formatDuration(marginMs)} longer than ${inner}, or it is cut off: ` +
        `${formatDuration(outerMs as number)} < ${formatDuration(innerMs as number)} + ${formatDuration(marginMs)}; ` +
        `raise ${outer} to ${formatDuration((innerMs as number) + marginMs)} or lower ${inner}`,
    );
  }
  problems.push(...checkLease(timeouts, killMarginMs));
  return problems;
}

function checkLease({ leaseDurationMs, renewDeadlineMs }: Timeouts, killMarginMs: number): string[] {
  if (!(killMarginMs > 0)) return [`the time to kill must be greater than zero: ${killMarginMs}ms`];
  if (leaseDurationMs === undefined || renewDeadlineMs === undefined) return [];
  const hardDeadlineMs = hardDeadlineFor(leaseDurationMs);
  const neededMs = renewDeadlineMs + killMarginMs;
  if (neededMs <= hardDeadlineMs) return [];
  let enoughMs = Math.ceil(neededMs / 1_000) * 1_000;
  while (hardDeadlineFor(enoughMs) < neededMs) enoughMs += 1_000;
  return [
    "renewDeadline and the time to kill must end before the hard deadline, which is leaseDuration less 1 % for clocks and " +
      `100ms: ${formatDuration(renewDeadlineMs)} + ${formatDuration(killMarginMs)} > ` +
      `${formatDuration(hardDeadlineMs)}; raise leaseDuration to ${formatDuration(enoughMs)}, or lower renewDeadline or the time to kill`,
  ];
}
