/** An election to look at: says who leads, at every change and every 5 s, and when this process does. */
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { connect, connectionProblems } from "../../shared/connection.ts";
import { electionFrom, electionProblems } from "../../shared/election-from.ts";
import { logLeader } from "../../shared/leader-log.ts";
import { type Log, logProblems, openLog } from "../../shared/log.ts";
import { refuse } from "../../shared/problems.ts";
import { settle } from "../../shared/settings.ts";
import { untilShutdown } from "../../shared/shutdown.ts";
import type { ElectFlags } from "./declare.ts";

export async function elect(command: Command, platform: Platform): Promise<void> {
  const { flags, problems } = await settle<ElectFlags>(command, platform);
  problems.push(...electionProblems(flags, platform), ...connectionProblems(flags), ...logProblems(flags));
  refuse(problems);
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
    try {
      await takePart(flags, platform, signal, log);
    } finally {
      await log.close();
    }
  });
}

async function takePart(flags: ElectFlags, platform: Platform, signal: AbortSignal, log: Log): Promise<void> {
  const connection = await connect(flags, platform, { signal, onWait: (message) => log.warn(message) });
  const election = electionFrom(flags, connection, platform);
  const name = `${connection.namespace}/${flags.leaseLockName}`;
  log.info(`${election.identity}: taking part in the election of ${name}`, {
    event: "started",
    identity: election.identity,
    election: name,
  });
  const stop = logLeader(election, flags.logLeaderEvery, log, platform);
  try {
    await election.run(
      (term) => new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve())),
      { signal },
    );
  } finally {
    stop();
  }
  log.info(`${election.identity}: left the election`, { event: "stopped", identity: election.identity });
}
