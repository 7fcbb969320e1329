/** Translates the flags of the old leader-elector sidecar into the current ones. */
import { formatDuration, type Problem, parseDuration } from "@tenure/base";
import { identityFrom } from "../../candidate/create-election.ts";
import type { Platform } from "../../platform.ts";
import { differentProblem } from "../../settings/settings.ts";
import { defaultStatus, type SidecarFlags } from "./declare.ts";

const currentNames = [
  ["election", "leaseLockName"],
  ["electionNamespace", "namespace"],
  ["http", "status"],
  ["ttl", "leaseDuration"],
] as const;

/** The flags under their current names. Two names for one setting with different values are a problem. */
export function withCurrentNames(flags: SidecarFlags, problems: Problem[], platform: Platform): SidecarFlags {
  const result: SidecarFlags = { ...flags };
  // The default of leader-elector. Should two replicas share a host name, the election refuses one of them.
  if (flags.election !== undefined) result.id = identityFrom(flags, platform) || platform.hostName();
  for (const [old, current] of currentNames) {
    const value = flags[old];
    if (value === undefined) continue;
    const other = flags[current];
    if (other !== undefined && other !== value) problems.push(differentProblem(old, current, value, other));
    result[current] = value;
  }
  result.status ??= defaultStatus;
  const ttlMs = parseDuration(flags.ttl);
  if (ttlMs !== undefined) {
    result.renewDeadline ??= formatDuration(ttlMs / 2);
    result.retryPeriod ??= formatDuration(ttlMs / 4);
  }
  return result;
}
