/** An election to look at: says who leads, at every change and every 5 s, and when this process does. */
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { connect, connectionProblems } from "../../shared/connection.ts";
import { electionFrom, electionProblems } from "../../shared/election-from.ts";
import { failureOf } from "../../shared/failure.ts";
import { logLeader } from "../../shared/leader-log.ts";
import { type Log, logProblems, openLog } from "../../shared/log.ts";
import { refuse } from "../../shared/problems.ts";
import { settle } from "../../shared/settings.ts";
import type { ElectFlags } from "./declare.ts";

export async function elect(command: Command, platform: Platform): Promise<void> {
  const { flags, problems } = await settle<ElectFlags>(command, platform);
  problems.push(...electionProblems(flags, platform), ...connectionProblems(flags), ...logProblems(flags));
  refuse(problems);
  const shutdown = new AbortController();
  const forget = (["SIGINT", "SIGTERM"] as const).map((signal) =>
    platform.onSignal(signal, () => {
      // Who asks twice does not want to wait for a server that does not answer.
      if (shutdown.signal.aborted) platform.exit(1);
      shutdown.abort();
    }),
  );
  const log = await openLog(flags, platform, 1);
  try {
    await takePart(flags, platform, shutdown.signal, log);
  } catch (error) {
    if (shutdown.signal.aborted && isAbort(error)) return;
    throw failureOf(error);
  } finally {
    await log.close();
    for (const end of forget) end();
  }
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

function isAbort(error: unknown): boolean {
  return (
    error instanceof Error && ((error as { code?: string }).code === "Aborted" || error.name === "AbortError")
  );
}
