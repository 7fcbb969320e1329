/**
 * A child has less time to stop when its lease is lost than when its term ends on purpose: from the renew deadline to the hard
 * deadline. A child that says it needs longer is killed in the middle, which surprises its owner at the worst moment.
 */
import { formatDuration, type Problem, parseDuration } from "@tenure/base";
import { checkTimings, hardDeadlineFor } from "@tenure/core";
import { supervisorDefaults } from "@tenure/supervisor";
import { timingsFrom } from "../../candidate/create-election.ts";
import type { RunFlags } from "./child-flags.ts";

/** What is allowed but not advisable. Flags that are not valid are reported elsewhere. */
export function lostLeaseWarnings(flags: RunFlags): Problem[] {
  const { value: timings } = checkTimings(timingsFrom(flags));
  const killMarginMs = parseDuration(flags.killMargin) ?? supervisorDefaults.killMarginMs;
  if (!timings) return [];
  const { leaseDurationMs, renewDeadlineMs } = timings;
  const leftMs = Math.max(0, hardDeadlineFor(leaseDurationMs) - renewDeadlineMs - killMarginMs);
  const field = flags.childShutdown === undefined ? "childDrain" : "childShutdown";
  const neededMs = parseDuration(flags[field]);
  if (neededMs === undefined || neededMs <= leftMs) return [];
  return [
    {
      field,
      rule: "is longer than the time that the child has when the lease is lost",
      limit: formatDuration(Math.floor(leftMs)),
      value: formatDuration(neededMs),
      fix: `raise {leaseDuration} by ${formatDuration(Math.ceil((neededMs - leftMs) / 1_000) * 1_000)} or more, or make sure that the child may be killed`,
    },
  ];
}
