/**
 * `tenure sidecar`: takes part in an election for an application, which asks it who leads. When a term ends on purpose, the
 * application is told first and has the handover delay to stop; then traffic is removed, then the lease is released.
 * It cannot guarantee that the application stops. The application must obey, and fence its writes.
 */
import { parseDuration, readDuration, sleep } from "@tenure/base";
import type { Term } from "@tenure/election";
import type { StatusSource } from "@tenure/status";
import { inTraffic } from "@tenure/traffic";
import type { Command } from "commander";
import { connectCandidate, withIdentity } from "../../candidate/connect-candidate.ts";
import {
  createElection,
  electionProblems,
  electionWarnings,
  identityFrom,
} from "../../candidate/create-election.ts";
import { createTraffic, trafficProblems } from "../../candidate/create-traffic.ts";
import { logLeader } from "../../candidate/leader-log.ts";
import { missingRights } from "../../candidate/missing-rights.ts";
import { untilShutdown } from "../../candidate/shutdown.ts";
import { type Log, logProblems, openLog } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { connectionProblems } from "../../settings/connection-options.ts";
import { rejectProblems } from "../../settings/problems.ts";
import { readSettings } from "../../settings/settings.ts";
import { onceAborted } from "../../signals.ts";
import { withCurrentNames } from "./classic-flags.ts";
import type { SidecarFlags } from "./declare.ts";

export async function sidecar(command: Command, platform: Platform): Promise<void> {
  const { flags: typed, problems, nameOf } = await readSettings<SidecarFlags>(command, platform);
  const isFollowing = typed.followFile !== undefined || typed.followConfigmap !== undefined;
  const { followProblems, follow } = await import("./follow.ts");
  const flags = isFollowing ? typed : withIdentity(withCurrentNames(typed, problems, platform), platform);
  if (isFollowing) problems.push(...followProblems(flags, platform));
  else {
    problems.push(
      ...electionProblems(flags, platform, nameOf),
      ...trafficProblems(flags, platform, { hasChild: false }),
    );
    readDuration("handoverDelay", flags.handoverDelay, problems, { mayBeZero: true });
  }
  problems.push(...connectionProblems(flags), ...logProblems(flags));
  rejectProblems(problems, { nameOf });
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
    const warnings = isFollowing ? [] : electionWarnings(flags, nameOf);
    for (const warning of warnings) log.warn(warning, { event: "advice" });
    try {
      await (isFollowing ? follow : takePart)(flags, platform, signal, log);
    } finally {
      await log.close();
    }
  });
}

async function takePart(
  flags: SidecarFlags,
  platform: Platform,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const onWait = (message: string) => log.warn(message, { event: "waiting" });
  const { lock, electionName, cluster } = await connectCandidate(flags, platform, { signal, onWait });
  const identity = identityFrom(flags, platform) ?? "";
  const name = flags.leaseLockName ?? "";
  const onError = (error: Error) => log.warn(`${identity}: ${error.message}`, { event: "traffic", identity });
  const traffic = await createTraffic({
    flags,
    connection: cluster,
    platform,
    election: name,
    identity,
    onError,
  });
  const { gates, metrics } = traffic;
  const election = createElection(flags, lock, platform, {
    // A sidecar has no work that could overrun. After a freeze it continues as a follower.
    onOverrun: "report",
    stopTimeout: stopTimeoutFor(flags.handoverDelay),
    ...(metrics && { metrics }),
  });
  const source: StatusSource = { election, stepDown: () => election.stepDown() };
  const server = await traffic.serve(source);
  try {
    await traffic.prepare(signal);
    log.info(`${identity}: taking part in the election of ${electionName}; status at ${server?.address}`, {
      event: "started",
      identity,
      election: electionName,
      status: server?.address,
    });
    const stop = logLeader(election, log, {
      every: flags.logLeaderEvery,
      clock: platform.backgroundClock,
      missingRights: () => missingRights(flags, cluster),
    });
    const delayMs = parseDuration(flags.handoverDelay) ?? 0;
    const work = async (term: Term, ready: () => Promise<void>) => {
      await ready();
      await onceAborted(term.signal);
      // A lost term leaves nothing to wait for.
      await sleep(platform.clock, delayMs, term.lost);
    };
    await election.run(inTraffic({ election, gates, work, onError }), { signal }).finally(stop);
    log.info(`${identity}: left the election`, { event: "stopped", identity });
  } finally {
    await server?.close();
    cluster?.client.close();
  }
}

/** The application has the handover delay to stop, however long that is. One more minute is for the gates. */
export function stopTimeoutFor(handoverDelay: string | undefined): string {
  return `${(parseDuration(handoverDelay) ?? 0) + 60_000}ms`;
}
