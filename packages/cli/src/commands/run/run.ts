/**
 * `tenure run`: an election, a supervisor and the signals, put together. What happens to the child is decided in
 * @tenure/supervisor, who leads in @tenure/election; here are the command line, the log and the exit code.
 */
import { systemClock } from "@tenure/base";
import { Supervisor } from "@tenure/supervisor";
import type { Command } from "commander";
import type { Platform } from "../../platform.ts";
import { connect, connectionProblems } from "../../shared/connection.ts";
import { electionFrom, electionProblems, identityFrom } from "../../shared/election-from.ts";
import { failureOf } from "../../shared/failure.ts";
import { logLeader } from "../../shared/leader-log.ts";
import { type Log, logProblems, openLog } from "../../shared/log.ts";
import { refuse } from "../../shared/problems.ts";
import { settle } from "../../shared/settings.ts";
import { sourceFrom, trafficFrom, trafficProblems } from "../../shared/traffic-from.ts";
import { type ChildOptions, childOptions } from "./check.ts";
import { checkExecutable } from "./executable.ts";
import { logSupervisor } from "./log.ts";
import type { RunFlags } from "./options.ts";
import { type Signals, takeSignals } from "./signals.ts";

/**
 * After a suspension the watchdog kills the child, by both clocks, and each renewal compares them too: looking more often here
 * would only cost wake-ups.
 */
const jumpCheckMs = 5_000;

interface Setup {
  readonly flags: RunFlags;
  readonly command: readonly string[];
  readonly child: ChildOptions;
}

/** Runs until it is told to stop; resolves with the exit code. */
export async function run(typed: readonly string[], declared: Command, platform: Platform): Promise<number> {
  // From here on: a signal that comes while the cluster is looked for must not leave half of something behind.
  const signals = takeSignals(platform);
  try {
    const setup = await check(typed, declared, platform);
    const log = await openLog(setup.flags, platform, 2);
    try {
      return await supervise(setup, platform, signals, log);
    } finally {
      await log.close();
    }
  } catch (error) {
    if (signals.shutdown.aborted && (error as { code?: string }).code === "Aborted") return 0;
    throw failureOf(error);
  } finally {
    signals.forget();
  }
}

async function check(typed: readonly string[], declared: Command, platform: Platform): Promise<Setup> {
  const { flags, problems } = await settle<RunFlags>(declared, platform);
  const command = typed.length > 0 ? typed : (flags.command ?? []);
  problems.push(...electionProblems(flags, platform), ...connectionProblems(flags), ...logProblems(flags));
  problems.push(...trafficProblems(flags, platform, { hasChild: true }));
  const child = childOptions(flags, platform, problems);
  if (command.length === 0) {
    problems.push(
      "there is no command: put it at the end, as in `tenure run --lease-lock-name x -- node worker.js`",
    );
  }
  refuse(problems);
  await checkExecutable(command[0] as string, { path: platform.env("PATH"), cwd: flags.cwd });
  return { flags, command, child };
}

async function supervise(
  { flags, command, child }: Setup,
  platform: Platform,
  signals: Signals,
  log: Log,
): Promise<number> {
  const onWait = (message: string) => log.warn(message, { event: "waiting" });
  const connection = await connect(flags, platform, { signal: signals.shutdown, onWait });
  const name = flags.leaseLockName ?? "";
  const onError = (error: Error) => log.warn(error.message, { event: "traffic" });
  const traffic = await trafficFrom({
    flags,
    connection,
    platform,
    election: name,
    identity: identityFrom(flags, platform) ?? "",
    onError,
  });
  const { gates, metrics } = traffic;
  const election = electionFrom(flags, connection, platform, {
    onOverrun: "report",
    clock: { ...systemClock, jumpCheckMs },
    ...(metrics && { metrics }),
  });
  const electionName = `${connection.namespace}/${name}`;
  const [program = "", ...args] = command;
  const supervisor = new Supervisor({ ...child, election, electionName, command: program, args, gates });
  const ends = [
    logLeader(election, flags.logLeaderEvery, log, platform),
    logSupervisor(supervisor, log),
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
  const server = await traffic.serve(sourceFrom(election, supervisor));
  try {
    await traffic.prepare();
    const { exitCode, killed, message } = await supervisor.run({ signal: signals.shutdown });
    const facts = { event: "stopped", identity, exitCode, killed };
    if (message === undefined) log.info(`${identity}: left the election`, facts);
    else log.warn(`${identity}: ${message}`, facts);
    return exitCode;
  } finally {
    for (const end of ends) end();
    await server?.close();
    connection.client.close();
  }
}
