/**
 * `tenure run`: connects an election, a supervisor and signals. @tenure/supervisor decides what happens to the child, and
 * @tenure/election decides who leads. This file has the command line, the log and the exit code.
 */
import { describeProblems, isAbortOf, parseDuration, readDuration, systemClock } from "@tenure/base";
import { Supervisor } from "@tenure/supervisor";
import type { Command } from "commander";
import { connectCandidate, withIdentity } from "../../candidate/connect-candidate.ts";
import {
  createElection,
  electionProblems,
  electionWarnings,
  identityFrom,
} from "../../candidate/create-election.ts";
import { createTraffic, statusSourceOf, trafficProblems } from "../../candidate/create-traffic.ts";
import { failureOf } from "../../candidate/failure.ts";
import { logLeader } from "../../candidate/leader-log.ts";
import { missingRights } from "../../candidate/missing-rights.ts";
import { isShutdown } from "../../candidate/shutdown.ts";
import type { Connection } from "../../cluster/connect.ts";
import type { LockKind } from "../../elections/lock-object.ts";
import { exitCodes } from "../../errors.ts";
import { type Log, logProblems, openLog } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import { connectionProblems } from "../../settings/connection-options.ts";
import { rejectProblems } from "../../settings/problems.ts";
import { readSettings } from "../../settings/settings.ts";
import type { RunFlags } from "./child-flags.ts";
import { type ChildOptions, childOptions } from "./child-options.ts";
import { checkExecutable } from "./executable.ts";
import { checkFileLimit, setFileLimit } from "./file-limit.ts";
import { lostLeaseWarnings } from "./lost-lease-warnings.ts";
import { newOnce, type Once, onceProblems } from "./once.ts";
import { isShared, shareProblems } from "./share-flags.ts";
import { listenToSignals, type Signals } from "./signals.ts";
import { logSupervisor } from "./supervisor-log.ts";
import { limitWait } from "./wait-limit.ts";

/**
 * After a suspension of the machine the watchdog kills the child, and each renewal compares the clocks too. Checking more
 * often here would only cost wake-ups.
 */
const jumpCheckMs = 5_000;

interface Setup {
  readonly flags: RunFlags;
  readonly command: readonly string[];
  readonly child: ChildOptions;
  readonly warnings: readonly string[];
}

/** Runs the command on the leader until asked to stop. Resolves with the exit code. */
export async function runCommand(
  typed: readonly string[],
  declared: Command,
  platform: Platform,
): Promise<number> {
  // Before anything else, so that a signal during the setup ends it cleanly.
  const signals = listenToSignals(platform);
  let isOnce = false;
  try {
    const setup = await check(typed, declared, platform);
    isOnce = setup.flags.once !== undefined;
    const log = await openLog(setup.flags, platform, 2);
    for (const warning of setup.warnings) log.warn(warning, { event: "advice" });
    try {
      const serve = isShared(setup.flags)
        ? (await import("./supervise-shares.ts")).superviseShares
        : supervise;
      return await serve(setup, platform, signals, log);
    } finally {
      await log.close();
    }
  } catch (error) {
    if (isShutdown(signals.shutdown, error)) return isOnce ? exitCodes.Incomplete : 0;
    throw failureOf(error);
  } finally {
    signals.dispose();
  }
}

async function check(typed: readonly string[], declared: Command, platform: Platform): Promise<Setup> {
  const { flags: given, problems, nameOf } = await readSettings<RunFlags>(declared, platform);
  const flags = withIdentity(given, platform);
  const command = typed.length > 0 ? typed : (flags.command ?? []);
  problems.push(...electionProblems(flags, platform, nameOf));
  problems.push(...connectionProblems(flags), ...logProblems(flags));
  problems.push(...trafficProblems(flags, platform, { hasChild: true }));
  problems.push(...onceProblems(flags), ...shareProblems(flags));
  const child = childOptions(flags, platform, problems);
  if (flags.wait !== undefined) readDuration("wait", flags.wait, problems);
  if (command.length === 0) {
    const fix = "put it at the end, as in `tenure run --lease-lock-name x -- node worker.js`";
    problems.push({ field: "the command to run", rule: "must be given", fix });
  }
  rejectProblems(problems, { nameOf });
  setFileLimit(flags.rlimit === undefined ? undefined : checkFileLimit(flags.rlimit).value, platform);
  checkExecutable(command[0] as string, { path: platform.env("PATH"), cwd: flags.cwd });
  const warnings = [
    ...electionWarnings(flags, nameOf),
    ...describeProblems(lostLeaseWarnings(flags), nameOf),
  ];
  return { flags, command, child, warnings };
}

async function supervise(
  { flags, command, child }: Setup,
  platform: Platform,
  signals: Signals,
  log: Log,
): Promise<number> {
  const onWait = (message: string) => log.warn(message, { event: "waiting" });
  const { lock, electionName, cluster } = await connectCandidate(flags, platform, {
    signal: signals.shutdown,
    onWait,
  });
  const name = flags.leaseLockName ?? "";
  const once = onceFrom(flags, cluster, platform, log);
  if (await isAlreadyDone(once, signals.shutdown)) {
    cluster?.client.close();
    return 0;
  }
  const onError = (error: Error) => log.warn(error.message, { event: "traffic" });
  const traffic = await createTraffic({
    flags,
    connection: cluster,
    platform,
    election: name,
    identity: identityFrom(flags, platform) ?? "",
    onError,
  });
  const { gates, metrics } = traffic;
  const election = createElection(flags, lock, platform, {
    onOverrun: "report",
    // The supervisor kills a child that does not stop in time (--stop-timeout).
    stopTimeout: false,
    clock: { ...systemClock, jumpCheckMs },
    ...(metrics && { metrics }),
  });
  const [program = "", ...args] = command;
  const supervisor = new Supervisor({
    ...child,
    election,
    electionName,
    command: program,
    args,
    gates,
    ...(once && { completion: once }),
    ...(platform.watchdog && { watchdog: platform.watchdog }),
  });
  const waiting = limitWait(supervisor, parseDuration(flags.wait), signals.shutdown, platform.clock);
  const stops = [
    logLeader(election, log, {
      every: flags.logLeaderEvery,
      clock: platform.backgroundClock,
      missingRights: () => missingRights(flags, cluster),
      isWorking: () => supervisor.hasProcesses(),
    }),
    logSupervisor(supervisor, log),
    traffic.takeOver(election),
    signals.connect(supervisor),
  ];
  const { identity } = election;
  log.info(`${identity}: taking part in the election of ${electionName}`, {
    event: "started",
    identity,
    election: electionName,
    pid: platform.pid,
  });
  log.info(`${identity}: phase ${supervisor.phase}`, { event: "phase", phase: supervisor.phase });
  const server = await traffic.serve(statusSourceOf(election, supervisor));
  try {
    await traffic.prepare(waiting.signal).catch((error) => {
      // Then the run ends at once.
      if (!isAbortOf(waiting.signal, error)) throw error;
    });
    const outcome = await supervisor.run({ signal: waiting.signal });
    const {
      killed,
      message = waiting.isOver() ? `did not become the leader within ${flags.wait}` : undefined,
    } = outcome;
    const isIncomplete = waiting.isOver() || (once !== undefined && !once.isDone);
    const exitCode = outcome.exitCode === 0 && isIncomplete ? exitCodes.Incomplete : outcome.exitCode;
    const facts = { event: "stopped" as const, identity, exitCode, killed };
    if (message === undefined) log.info(`${identity}: left the election`, facts);
    else log.warn(`${identity}: ${message}`, facts);
    return exitCode;
  } finally {
    for (const stop of stops) stop();
    waiting.dispose();
    await server?.close();
    cluster?.client.close();
  }
}

function onceFrom(
  flags: RunFlags,
  cluster: Connection | undefined,
  platform: Platform,
  log: Log,
): Once | undefined {
  const { once: task, leaseLockName: name = "", lock = "lease" } = flags;
  if (task === undefined || !cluster) return undefined;
  const { client, namespace } = cluster;
  const identity = identityFrom(flags, platform) ?? "";
  const onDone = (by: string, at: string) =>
    log.info(`${identity}: ${task} is done, by ${by} at ${at}`, { event: "done", identity, task, by, at });
  return newOnce({
    task,
    client,
    lock: lock as LockKind,
    namespace,
    name,
    identity,
    clock: platform.clock,
    onDone,
  });
}

/** A replica that starts late need not wait for the lock. If the server does not answer, the election finds out later. */
async function isAlreadyDone(once: Once | undefined, signal: AbortSignal): Promise<boolean> {
  return (await once?.isRecorded(signal).catch(() => false)) ?? false;
}
