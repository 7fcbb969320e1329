/**
 * An election without work of its own: the application beside it asks who leads. When a term ends on purpose the application
 * is told first, has the handover delay to stop, then traffic is taken away, then the lease released.
 * It cannot promise that the application stops: that one has to heed what it is told, and fence what it writes.
 */
import { parseDuration } from "@tenure/base";
import type { Term } from "@tenure/election";
import type { StatusSource } from "@tenure/status";
import { inTraffic } from "@tenure/traffic";
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { connect, connectionProblems } from "../../shared/connection.ts";
import { electionFrom, electionProblems, identityFrom } from "../../shared/election-from.ts";
import { logLeader } from "../../shared/leader-log.ts";
import { type Log, logProblems, openLog } from "../../shared/log.ts";
import { refuse } from "../../shared/problems.ts";
import { settle } from "../../shared/settings.ts";
import { untilShutdown } from "../../shared/shutdown.ts";
import { trafficFrom, trafficProblems } from "../../shared/traffic-from.ts";
import { inNewWords } from "./classic-flags.ts";
import type { SidecarFlags } from "./declare.ts";

export async function sidecar(command: Command, platform: Platform): Promise<void> {
  const { flags: typed, problems } = await settle<SidecarFlags>(command, platform);
  const isFollowing = typed.followFile !== undefined || typed.followConfigmap !== undefined;
  const { followProblems, follow } = await import("./follow.ts");
  const flags = isFollowing ? typed : inNewWords(typed, problems);
  if (isFollowing) problems.push(...followProblems(flags, platform));
  else {
    problems.push(
      ...electionProblems(flags, platform),
      ...trafficProblems(flags, platform, { hasChild: false }),
    );
    if (parseDuration(flags.handoverDelay) === undefined)
      problems.push(
        `--handover-delay must be a duration such as "2s": ${JSON.stringify(flags.handoverDelay)}`,
      );
  }
  problems.push(...connectionProblems(flags), ...logProblems(flags));
  refuse(problems);
  await untilShutdown(platform, async (signal) => {
    const log = await openLog(flags, platform, 1);
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
  const connection = await connect(flags, platform, { signal, onWait: (message) => log.warn(message) });
  const identity = identityFrom(flags, platform) ?? "";
  const name = flags.leaseLockName ?? "";
  const onError = (error: Error) => log.warn(`${identity}: ${error.message}`, { event: "traffic", identity });
  const traffic = await trafficFrom({ flags, connection, platform, election: name, identity, onError });
  const { gates, metrics } = traffic;
  const election = electionFrom(flags, connection, platform, {
    // It has no work of its own that could run on: one that was frozen goes on as a follower.
    onOverrun: "report",
    ...(metrics && { metrics }),
  });
  const source: StatusSource = { election, stepDown: () => election.stepDown() };
  const server = await traffic.serve(source);
  try {
    await traffic.prepare();
    log.info(
      `${identity}: taking part in the election of ${connection.namespace}/${name}; ask ${server?.address}`,
      {
        event: "started",
        identity,
        election: `${connection.namespace}/${name}`,
        status: server?.address,
      },
    );
    const stop = logLeader(election, flags.logLeaderEvery, log, platform);
    const delayMs = parseDuration(flags.handoverDelay) ?? 0;
    const work = async (term: Term, ready: () => Promise<void>) => {
      await ready();
      await aborted(term.signal);
      await pause(platform, delayMs, term.lost);
    };
    await election.run(inTraffic({ election, gates, work, onError }), { signal }).finally(stop);
    log.info(`${identity}: left the election`, { event: "stopped", identity });
  } finally {
    await server?.close();
    connection.client.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Ends early when there is nothing left to wait for. */
async function pause(platform: Platform, ms: number, end: AbortSignal): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = platform.after(ms, resolve);
  });
  await Promise.race([over, aborted(end)]);
  cancel();
}
