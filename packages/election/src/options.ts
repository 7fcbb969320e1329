/** The options of an election. Every problem with them is reported at once, before anything runs. */

import { type Clock, oneOfProblem, type Problem, quote, readDuration, unknownOptions } from "@tenure/base";
import { type Config, checkIdentity, checkTimings, type TimingOptions } from "@tenure/core";
import { type CoordinatedOptions, coordinatedProblems } from "./coordinated-options.ts";
import { invalidOptions } from "./errors.ts";
import type { Lock } from "./lock.ts";
import type { Logger } from "./logger.ts";
import type { ElectionMetrics } from "./metrics.ts";
import { environment, hostIdentity } from "./platform.ts";
import type { Term } from "./term.ts";
import type { Thread, WorkerSetup } from "./worker/worker-candidate.ts";

const overrunActions = ["exit", "report"] as const;
type OverrunAction = (typeof overrunActions)[number];

/** The options of an election. Only `lock` is required. */
export interface ElectionOptions extends TimingOptions {
  /**
   * Where the election stores its record.
   * @example new LeaseLock({ namespace: "prod", name: "billing" })
   */
  readonly lock: Lock;
  /** Every two live candidates must have different identities. @default $POD_NAME, or the name of the host and a random suffix */
  readonly identity?: string;
  /**
   * Wait one leaseDuration if the lock does not exist. Without this, a candidate that starts right after somebody deleted
   * the lock cannot know that its holder may still be working. @default false
   */
  readonly waitWhenAbsent?: boolean;
  /** Reject `run` when the API server answers 401 or 403, instead of reporting an error and retrying. @default false */
  readonly failWhenDenied?: boolean;
  /**
   * What to do if the work still runs at the hard deadline, when another replica may start. "exit" kills this process, because
   * a promise cannot be killed and two leaders are worse than a restart. "report" only emits `overrun`. @default "exit"
   */
  readonly onOverrun?: OverrunAction;
  /** Run the election in its own thread, so that busy application code cannot delay renewals. @default false */
  readonly worker?: boolean;
  /** Replaces the thread of `worker`, for a simulation. @default a worker thread of Node */
  readonly startThread?: ((setup: WorkerSetup) => Thread) | undefined;
  /** Record the Kubernetes Events "became leader" and "stopped leading" on the lock. Needs `create` on events. @default false */
  readonly announce?: boolean;
  /**
   * Show this candidate to operators in a small Lease of its own, with what it is doing: `tenure status` lists it, and `tenure
   * transfer` knows its name. Writes it at most twice a minute. Needs `list`, `patch` and `delete` on leases; without them the
   * candidate takes part all the same. Has no effect on who leads. @default true
   */
  readonly register?: boolean;
  /**
   * Let the API server choose the leader: the candidate with the lowest version. Needs a LeaseLock, and an API server with
   * LeaseCandidates, which are off by default. @default the candidates elect the leader themselves
   * @example { version: "1.4.0" }
   */
  readonly coordinated?: CoordinatedOptions;
  /**
   * From 0 to 10. With every step below 10, this candidate waits 300 ms longer before it acquires a lock that is free, so that a
   * candidate with a higher priority wins. It does not take the lock from a leader with a lower priority. @default 10
   */
  readonly priority?: number;
  /** Never acquire the lock, unless an operator transfers leadership to this candidate. @default false */
  readonly noFailover?: boolean;
  /** How long this candidate waits after its work ended or it stepped down, so that another one can win. @default retryPeriod */
  readonly cooldown?: string;
  /**
   * How long the work may take to stop after `stepDown()`, an order or a shutdown. The lease is renewed until then. Work that
   * takes longer loses its term: `term.lost` aborts, the lease is no longer renewed, and `onOverrun` applies at the hard
   * deadline. false: no limit, for an owner that kills the work itself. @default "1m"
   */
  readonly stopTimeout?: string | false;
  /**
   * Where the election logs who leads, how terms end, and errors: `console`, a logger of pino or of winston. @default nothing is logged
   * @example console
   */
  readonly logger?: Logger;
  /** Where the election reports its measurements. @default none */
  readonly metrics?: ElectionMetrics;
  /** Replaces the time, for a test. @default the machine's clock */
  readonly clock?: Clock;
  /** Replaces the randomness, for a test: returns a number in [0, 1). @default Math.random */
  readonly random?: () => number;
}

/** How much longer a candidate waits for each step that its priority is below the highest. */
const priorityStepMs = 300;
const highestPriority = 10;

/**
 * The work of a leader. It must return a promise that settles only when everything that it started has stopped: the lease is
 * released then.
 */
export type Work = (term: Term) => unknown;

/** The options of one run. */
export interface RunOptions {
  /** Ends the run: the work is stopped, then the lock is released, then `run` resolves. @default none */
  readonly signal?: AbortSignal;
  /** End after the first term, however it ended; reject if the work threw. @default false */
  readonly once?: boolean;
}

/** The options of `terms`. */
export interface TermsOptions {
  /** Ends the loop: the signal of the current term aborts, and no further term follows. @default none */
  readonly signal?: AbortSignal;
}

/** The options of `stepDown`. */
export interface StepDownOptions {
  /** How long this candidate does not campaign. @default the `cooldown` of the election */
  readonly cooldown?: string;
}

const knownOptions: Readonly<Record<keyof ElectionOptions, true>> = {
  lock: true,
  identity: true,
  preset: true,
  leaseDuration: true,
  renewDeadline: true,
  retryPeriod: true,
  renewInterval: true,
  stopWithin: true,
  stopTimeout: true,
  cooldown: true,
  waitWhenAbsent: true,
  failWhenDenied: true,
  onOverrun: true,
  worker: true,
  startThread: true,
  announce: true,
  register: true,
  coordinated: true,
  priority: true,
  noFailover: true,
  logger: true,
  metrics: true,
  clock: true,
  random: true,
};

/** Tells `run(work, options)` from `run(options)`. Throws an error that names every problem. */
export function readRunArguments(
  first: Work | RunOptions | undefined,
  second: RunOptions | undefined,
): { readonly work: Work | undefined; readonly options: RunOptions } {
  const hasWork = typeof first === "function";
  const problems: Problem[] = [];
  if (!hasWork && (second !== undefined || !isObjectOrAbsent(first)))
    problems.push({ field: "work", rule: "must be a function", value: typeof first });
  const options = hasWork ? second : first;
  if (problems.length === 0) problems.push(...unknownOptions(options, { signal: true, once: true }));
  if (problems.length > 0) throw invalidOptions("run the election", problems);
  return { work: hasWork ? first : undefined, options: (options as RunOptions | undefined) ?? {} };
}

function isObjectOrAbsent(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null);
}

/** The signal of `terms`. Throws an error that names every problem. */
export function readTermsOptions(options: TermsOptions): AbortSignal | undefined {
  const problems = unknownOptions(options, { signal: true });
  if (problems.length > 0) throw invalidOptions("serve the terms of the election", problems);
  return options.signal;
}

/** The cool-down of `stepDown`, in milliseconds. Throws an error that names every problem. */
export function readStepDownOptions(options: StepDownOptions, usualMs: number): number {
  const problems: Problem[] = [...unknownOptions(options, { cooldown: true })];
  const { cooldown } = options;
  const cooldownMs =
    cooldown === undefined ? usualMs : readDuration("cooldown", cooldown, problems, { mayBeZero: true });
  if (cooldownMs === undefined || problems.length > 0) throw invalidOptions("step down", problems);
  return cooldownMs;
}

/** Only an identity that is not passed has a default: an empty one is a mistake. */
function identityOf({ identity }: ElectionOptions): unknown {
  return identity === undefined ? (environment("POD_NAME") ?? hostIdentity()) : identity;
}

/** Throws an error that names every problem with the options. */
export function checkOptions(options: ElectionOptions): Config {
  const timings = checkTimings(options);
  const identity = checkIdentity(identityOf(options));
  const problems: Problem[] = [
    ...unknownOptions(options, knownOptions),
    ...timings.problems,
    ...identity.problems,
  ];
  const cooldownMs =
    options.cooldown === undefined
      ? timings.value?.retryPeriodMs
      : readDuration("cooldown", options.cooldown, problems, { mayBeZero: true });
  const { stopTimeout = "1m" } = options;
  const drainTimeoutMs =
    stopTimeout === false ? Number.POSITIVE_INFINITY : readDuration("stopTimeout", stopTimeout, problems);
  if (typeof options.lock?.read !== "function") {
    problems.push({ field: "lock", rule: "must be a lock, for example a LeaseLock" });
  }
  const { priority = highestPriority, noFailover = false } = options;
  if (!(Number.isInteger(priority) && priority >= 0 && priority <= highestPriority)) {
    problems.push({
      field: "priority",
      rule: `must be a whole number from 0 to ${highestPriority}`,
      value: String(priority),
    });
  }
  if (options.coordinated) {
    const surroundings = {
      lock: options.lock,
      identity: identity.value,
      priority: options.priority,
      noFailover,
    };
    problems.push(...coordinatedProblems(options.coordinated, surroundings));
  }
  const { logger } = options;
  if (
    logger !== undefined &&
    !["info", "warn", "error"].every((level) => typeof logger?.[level as "info"] === "function")
  )
    problems.push({ field: "logger", rule: "must have the methods info, warn and error, as console has" });
  if (options.register !== undefined && typeof options.register !== "boolean")
    problems.push({ field: "register", rule: "must be true or false", value: quote(options.register) });
  const { onOverrun = "exit", waitWhenAbsent = false, failWhenDenied = false } = options;
  if (!overrunActions.includes(onOverrun))
    problems.push(oneOfProblem("onOverrun", overrunActions, onOverrun));
  if (options.worker && !options.lock?.spec) {
    problems.push({
      field: "worker",
      rule: "needs a lock that can be created again in another thread: a lock of this package, without a client of its own",
    });
  }
  if (
    !timings.value ||
    identity.value === undefined ||
    cooldownMs === undefined ||
    drainTimeoutMs === undefined ||
    problems.length > 0
  ) {
    throw invalidOptions("set up the election", problems);
  }
  return {
    identity: identity.value,
    timings: timings.value,
    waitWhenAbsent,
    failWhenDenied,
    cooldownMs,
    drainTimeoutMs,
    acquireDelayMs: noFailover ? Number.POSITIVE_INFINITY : (highestPriority - priority) * priorityStepMs,
  };
}
