/**
 * `tenure run --shards` and `--permits`: a supervisor with a child of its own for each term of each shard that this replica owns.
 * @tenure/election decides which shards those are; each supervisor, with its watchdog, sees to it that its child is dead in time.
 */
import { systemClock } from "@tenure/base";
import { hexHash } from "@tenure/core";
import { Semaphore, type SetOptions, type Shard, Shards, type Term } from "@tenure/election";
import { type ForwardedSignal, type Outcome, Supervisor, supervisorDefaults } from "@tenure/supervisor";
import { identityFrom, timingsFrom } from "../../candidate/create-election.ts";
import { ErrorThrottle } from "../../candidate/error-throttle.ts";
import { connect, newClient } from "../../cluster/connect.ts";
import type { Log } from "../../log/log.ts";
import type { Platform } from "../../platform.ts";
import type { RunFlags } from "./child-flags.ts";
import type { ChildOptions } from "./child-options.ts";
import type { Signals } from "./signals.ts";
import { logSupervisor } from "./supervisor-log.ts";

/** As for one leader: the watchdogs kill the children after a suspension of the machine. */
const jumpCheckMs = 5_000;

interface Setup {
  readonly flags: RunFlags;
  readonly command: readonly string[];
  readonly child: ChildOptions;
}

/** What the supervisor of one term needs to know of its shard or permit. */
interface Share {
  /** For the log: "shard 3". */
  readonly name: string;
  readonly term: Term;
  readonly env: Readonly<Record<string, string>>;
  stepDown(): void;
  onRenewed(listener: () => void): () => void;
}

/** Runs until asked to stop. Resolves with the exit code. */
export async function superviseShares(
  { flags, command, child }: Setup,
  platform: Platform,
  signals: Signals,
  log: Log,
): Promise<number> {
  // Every child has a watchdog of its own.
  await platform.watchdog?.discard();
  const onWait = (message: string) => log.warn(message, { event: "waiting" });
  const cluster = await connect(flags, platform, { signal: signals.shutdown, onWait });
  const client = newClient(cluster.config, platform, "tenure shards");
  const { leaseLockName: name = "" } = flags;
  const [program = "", ...args] = command;
  const running = new Set<Supervisor>();
  let exitCode = 0;

  const supervise = async ({ name: share, term, env, stepDown, onRenewed }: Share): Promise<void> => {
    const supervisor = new Supervisor({
      ...child,
      env: { ...child.env, ...env },
      electionName: `${cluster.namespace}/${name}`,
      command: program,
      args,
      election: {
        identity: term.identity,
        // A supervisor for each term: the variables of the child differ.
        run: async (work) => void (await work(term)),
        stepDown,
        on: (_name, listener) => onRenewed(() => listener({ term })),
      },
    });
    running.add(supervisor);
    const stopLog = logSupervisor(supervisor, logOf(log, share));
    try {
      exitCode = Math.max(exitCode, codeOf(await supervisor.run()));
    } finally {
      stopLog();
      running.delete(supervisor);
    }
  };

  const disconnect = signals.connect({
    forward: (signal: ForwardedSignal) => {
      for (const supervisor of running) supervisor.forward(signal);
    },
    hurry: () => {
      for (const supervisor of running) supervisor.hurry();
    },
  });
  const options: SetOptions = {
    ...timingsFrom(flags),
    name,
    namespace: cluster.namespace,
    identity: identityFrom(flags, platform) ?? "",
    client,
    waitWhenAbsent: flags.waitWhenAbsent ?? false,
    failWhenDenied: flags.failWhenDenied ?? false,
    cooldown: flags.cooldown ?? `${supervisorDefaults.cooldownMs}ms`,
    // The supervisors kill children that do not stop in time (--stop-timeout).
    onOverrun: "report",
    stopTimeout: false,
    clock: { ...systemClock, jumpCheckMs },
  };
  try {
    await (flags.shards === undefined
      ? runPermits(options, Number(flags.permits), supervise, signals.shutdown, log, platform)
      : runShards(options, Number(flags.shards), supervise, signals.shutdown, log, platform));
    log.info(`${options.identity}: left`, { event: "stopped", identity: options.identity, exitCode });
    return exitCode;
  } finally {
    disconnect();
    client.close();
    cluster.client.close();
  }
}

type Supervise = (share: Share) => Promise<void>;

function runShards(
  options: SetOptions,
  count: number,
  supervise: Supervise,
  signal: AbortSignal,
  log: Log,
  platform: Platform,
): Promise<void> {
  const shards = new Shards({ ...options, count });
  const { identity } = shards;
  shards.on("error", errorLog(log, platform));
  shards.on("shard-started", ({ shard, term }) =>
    log.info(`${identity}: owns shard ${shard.index} of ${shard.count} with token ${term.token}`, {
      event: "shard-started",
      shard: shard.index,
      token: String(term.token),
    }),
  );
  shards.on("shard-ended", ({ shard, reason }) =>
    log.info(`${identity}: stopped working on shard ${shard.index}: ${reason}`, {
      event: "shard-ended",
      shard: shard.index,
      reason,
    }),
  );
  log.info(`${identity}: taking part in ${count} shards of ${options.name}`, { event: "started", identity });
  return shards.run(
    (shard, term) =>
      supervise({
        name: `shard ${shard.index}`,
        term,
        env: shardVariables(shard),
        stepDown: () => shards.stepDown(shard.index),
        onRenewed: (listener) => shards.on("renewed", (event) => event.term === term && listener()),
      }),
    { signal },
  );
}

function runPermits(
  options: SetOptions,
  permits: number,
  supervise: Supervise,
  signal: AbortSignal,
  log: Log,
  platform: Platform,
): Promise<void> {
  const semaphore = new Semaphore({ ...options, permits });
  const { identity } = semaphore;
  semaphore.on("error", errorLog(log, platform));
  semaphore.on("permit-started", ({ permit, term }) =>
    log.info(`${identity}: got permit ${permit} with token ${term.token}`, {
      event: "permit-started",
      permit,
      token: String(term.token),
    }),
  );
  semaphore.on("permit-ended", ({ permit, reason }) =>
    log.info(`${identity}: gave up permit ${permit}: ${reason}`, { event: "permit-ended", permit, reason }),
  );
  log.info(`${identity}: taking part in ${permits} permits of ${options.name}`, {
    event: "started",
    identity,
  });
  return semaphore.run(
    (term, permit) =>
      supervise({
        name: `permit ${permit}`,
        term,
        env: { TENURE_PERMIT: String(permit) },
        stepDown: () => semaphore.stepDown(),
        onRenewed: (listener) => semaphore.on("renewed", (event) => event.term === term && listener()),
      }),
    { signal },
  );
}

function shardVariables({ index, count, range, selector }: Shard): Record<string, string> {
  return {
    TENURE_SHARD: String(index),
    TENURE_SHARD_COUNT: String(count),
    TENURE_SHARD_RANGE: `${hexHash(range.start)}-${hexHash(range.end)}`,
    TENURE_SHARD_SELECTOR: selector,
  };
}

/** A child that was killed when its shard moved is a failure too: it did not stop when asked to. */
function codeOf({ exitCode, killed }: Outcome): number {
  return killed ? 1 : exitCode;
}

function errorLog(log: Log, platform: Platform): (event: { readonly error: Error }) => void {
  const throttle = new ErrorThrottle(platform.clock);
  return ({ error }) => {
    const omitted = throttle.next(error.message);
    if (omitted !== undefined) log.warn(error.message, { event: "error", omitted });
  };
}

/** Says with each line which share it is about. */
function logOf(log: Log, share: string): Log {
  return {
    info: (message, facts) => log.info(`${share}: ${message}`, { ...facts, share }),
    warn: (message, facts) => log.warn(`${share}: ${message}`, { ...facts, share }),
    error: (message, facts) => log.error(`${share}: ${message}`, { ...facts, share }),
    close: () => log.close(),
  };
}
