/**
 * Timeouts must nest: at every level, the one that stops a process must wait longer than the process may take.
 *
 *     pod grace period > supervisor stops the child > the child shuts down > the child drains its work
 *     renewDeadline + kill margin <= hard deadline < leaseDuration
 */
import { formatDuration, notPositiveProblem, type Problem } from "@tenure/base";
import { hardDeadlineFor } from "@tenure/core";
import { supervisorDefaults } from "./options.ts";

export interface Timeouts {
  /** terminationGracePeriodSeconds of the pod, after which the kubelet kills every process. @default not checked */
  readonly podGraceMs?: number;
  /** How long the supervisor waits for the child before it kills the child. */
  readonly stopTimeoutMs: number;
  /** How long the child needs to shut down. @default not checked */
  readonly childShutdownMs?: number;
  /** How long the child lets work in flight finish. @default not checked */
  readonly drainMs?: number;
  /** The leaseDuration of the election. @default not checked */
  readonly leaseDurationMs?: number;
  /** The renewDeadline of the election. @default not checked */
  readonly renewDeadlineMs?: number;
  /** How long before the hard deadline the child of a lost term is killed. @default 500 */
  readonly killMarginMs?: number;
  /** How much longer each level must be than the one inside it. @default 1_000 */
  readonly marginMs?: number;
}

const levels = ["podGraceMs", "stopTimeoutMs", "childShutdownMs", "drainMs"] as const;

/** Every pair of timeouts that does not nest. */
export function checkNesting(timeouts: Timeouts): Problem[] {
  const { killMarginMs = supervisorDefaults.killMarginMs, marginMs = supervisorDefaults.nestingMarginMs } =
    timeouts;
  const given = levels.flatMap((field) => {
    const ms = timeouts[field];
    return ms === undefined ? [] : [{ field, ms, isValid: Number.isFinite(ms) && ms > 0 }];
  });
  const problems = given
    .filter(({ isValid }) => !isValid)
    .map(({ field, ms }) => notPositiveProblem(field, `${ms}ms`));
  const valid = given.filter(({ isValid }) => isValid);
  for (const [index, inner] of valid.entries()) {
    const outer = valid[index - 1];
    if (!outer || outer.ms >= inner.ms + marginMs) continue;
    problems.push({
      field: outer.field,
      rule: `must be at least ${formatDuration(marginMs)} longer than {${inner.field}}`,
      limit: formatDuration(inner.ms),
      value: formatDuration(outer.ms),
      fix: `raise {${outer.field}} to ${formatDuration(inner.ms + marginMs)}, or lower {${inner.field}}`,
    });
  }
  return [...problems, ...checkLease(timeouts, killMarginMs)];
}

function checkLease({ leaseDurationMs, renewDeadlineMs }: Timeouts, killMarginMs: number): Problem[] {
  if (!(killMarginMs > 0)) return [notPositiveProblem("killMarginMs", `${killMarginMs}ms`)];
  if (leaseDurationMs === undefined || renewDeadlineMs === undefined) return [];
  const hardDeadlineMs = hardDeadlineFor(leaseDurationMs);
  const neededMs = renewDeadlineMs + killMarginMs;
  if (neededMs <= hardDeadlineMs) return [];
  let enoughMs = Math.ceil(neededMs / 1_000) * 1_000;
  while (hardDeadlineFor(enoughMs) < neededMs) enoughMs += 1_000;
  return [
    {
      field: "renewDeadlineMs",
      rule: "plus {killMarginMs} must not pass the hard deadline, which is {leaseDurationMs} less 1 % for clock drift and 100ms",
      limit: formatDuration(hardDeadlineMs),
      value: `${formatDuration(renewDeadlineMs)} + ${formatDuration(killMarginMs)}`,
      fix: `raise {leaseDurationMs} to ${formatDuration(enoughMs)}, or lower {renewDeadlineMs} or {killMarginMs}`,
    },
  ];
}
