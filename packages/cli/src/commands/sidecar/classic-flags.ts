/** The flags of the leader-elector sidecar of old, in the words of this one. */
import { formatDuration, parseDuration } from "@tenure/base";
import { defaultStatus, type SidecarFlags } from "./declare.ts";

const aliases = [
  ["election", "leaseLockName", "--election and --lease-lock-name"],
  ["electionNamespace", "namespace", "--election-namespace and --lease-lock-namespace"],
  ["http", "status", "--http and --status"],
  ["ttl", "leaseDuration", "--ttl and --lease-duration"],
] as const;

/** The flags as if the new words had been used; what contradicts itself is a problem. */
export function inNewWords(flags: SidecarFlags, problems: string[]): SidecarFlags {
  const result: SidecarFlags = { ...flags };
  for (const [old, name, both] of aliases) {
    const value = flags[old];
    if (value === undefined) continue;
    const other = flags[name];
    if (other !== undefined && other !== value)
      problems.push(
        `${both} are the same and must not differ: ${JSON.stringify(value)}, ${JSON.stringify(other)}`,
      );
    result[name] = value;
  }
  result.status ??= defaultStatus;
  const ttlMs = parseDuration(flags.ttl);
  if (ttlMs !== undefined) {
    result.renewDeadline ??= formatDuration(ttlMs / 2);
    result.retryPeriod ??= formatDuration(ttlMs / 4);
  }
  return result;
}
