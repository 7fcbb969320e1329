/** `tenure elect`: takes part in an election, does no work, and logs who leads. */
import type { Command } from "commander";
import { connectCandidate, withIdentity } from "../../candidate/connect-candidate.ts";
import { createElection, electionProblems, electionWarnings } from "../../candidate/create-election.ts";
import { logLeader } from "../../candidate/leader-log.ts";
import { missingRights } from "../../candidate/missing-rights.ts";
import { untilShutdown } from "../../candidate/shutdown.ts";
import { type Log, logProblems, openLog } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { connectionProblems } from "../../settings/connection-options.ts";
import { rejectProblems } from "../../settings/problems.ts";
import { readSettings } from "../../settings/settings.ts";
import { onceAborted } from "../../signals.ts";
import type { ElectFlags } from "./declare.ts";

export async function elect(command: Command, platform: Platform): Promise<void> {
  const { flags: given, problems, nameOf } = await readSettings<ElectFlags>(command, platform);
  const flags = withIdentity(given, platform);
  problems.push(...electionProblems(flags, platform, nameOf));
  problems.push(...connectionProblems(flags), ...logProblems(flags));
  rejectProblems(problems, { nameOf });
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
    for (const warning of electionWarnings(flags, nameOf)) log.warn(warning, { event: "advice" });
    try {
      await takePart(flags, platform, signal, log);
    } finally {
      await log.close();
    }
  });
}

async function takePart(flags: ElectFlags, platform: Platform, signal: AbortSignal, log: Log): Promise<void> {
  const onWait = (message: string) => log.warn(message, { event: "waiting" });
  const { lock, electionName: name, cluster } = await connectCandidate(flags, platform, { signal, onWait });
  const election = createElection(flags, lock, platform);
  log.info(`${election.identity}: taking part in the election of ${name}`, {
    event: "started",
    identity: election.identity,
    election: name,
  });
  const stop = logLeader(election, log, {
    every: flags.logLeaderEvery,
    clock: platform.backgroundClock,
    missingRights: () => missingRights(flags, cluster),
  });
  try {
    await election.run((term) => onceAborted(term.signal), { signal });
  } finally {
    stop();
  }
  log.info(`${election.identity}: left the election`, { event: "stopped", identity: election.identity });
}
