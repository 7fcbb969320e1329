/** The renew deadline to compare latency with: from a flag, from the workload, or estimated from the lease duration. Pure. */
import { parseDuration } from "@tenure/base";
import { presets } from "@tenure/core";
import type { ElectionState } from "../../elections/state.ts";
import type { DoctorFlags } from "./doctor-flags.ts";
import { durationOf } from "./flags.ts";
import type { Container } from "./workload.ts";

/** A lease of a day says nothing about latency. */
const longestUsualSeconds = 60;

export function renewDeadlineFor(
  { renewDeadline, preset }: DoctorFlags,
  state: ElectionState | undefined,
  candidates: readonly Container[],
): { deadlineMs: number; source: string } {
  const given = parseDuration(renewDeadline);
  if (given !== undefined) return { deadlineMs: given, source: "--renew-deadline" };
  const byPreset = parseDuration(presets[preset as keyof typeof presets]?.renewDeadline);
  if (byPreset !== undefined) return { deadlineMs: byPreset, source: `--preset ${preset}` };
  const flag = candidates.map((container) => durationOf(container, "renew-deadline")).find(Boolean);
  if (flag !== undefined) return { deadlineMs: flag, source: "from the workload" };
  const seconds = state?.standing === "led" ? (state.record.leaseDurationSeconds ?? 0) : 0;
  // In all presets it is two thirds of the lease duration or more.
  if (seconds > 0 && seconds <= longestUsualSeconds)
    return { deadlineMs: Math.round((seconds * 20) / 3) * 100, source: "two thirds of the lease duration" };
  return { deadlineMs: parseDuration(presets.standard.renewDeadline) as number, source: "the default" };
}
