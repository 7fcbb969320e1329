/** Turns the flags of `tenure run` into options of the supervisor. All problems are found before anything starts. */
import { type Checked, oneOfProblem, type Problem, readDuration, readWholeNumber } from "@tenure/base";
import { checkTimings } from "@tenure/core";
import {
  checkHealth,
  checkNesting,
  checkReady,
  checkStopSignal,
  exitActions,
  type HealthOptions,
  killModes,
  type SupervisorOptions,
  supervisorDefaults,
  type Timeouts,
  unhealthyActions,
} from "@tenure/supervisor";
import { timingsFrom } from "../../candidate/create-election.ts";
import type { Platform } from "../../platform.ts";
import type { ChildFlags, RunFlags } from "./child-flags.ts";
import { checkFileLimit } from "./file-limit.ts";
import { hooksFrom } from "./hooks.ts";
import { type ChildUser, checkUser, readUserFacts } from "./user.ts";

/** The options that come from flags. */
export type ChildOptions = Omit<SupervisorOptions, "election" | "command">;

export function childOptions(flags: RunFlags, platform: Platform, problems: Problem[]): ChildOptions {
  const ms = durationReader(flags, problems);
  // Zero is a problem too, but checkNesting reports it.
  const orZero = durationReader(flags, problems, { mayBeZero: true });
  const stopTimeoutMs = orZero("stopTimeout");
  const killMarginMs = orZero("killMargin");
  const user = parsed(flags.user, (text) => checkUser(text, readUserFacts(platform.uid())), problems);
  parsed(flags.rlimit, checkFileLimit, problems);
  const options = {
    ...given("user", user && { uid: user.uid, gid: user.gid }),
    ...given("env", user && environmentOf(user)),
    ...given("ready", parsed(flags.ready, checkReady, problems)),
    ...given(
      "onExit",
      choice(flags, "onExit", exitActions, problems) ?? (flags.once === undefined ? undefined : "exit"),
    ),
    ...given("whenUnhealthy", choice(flags, "whenUnhealthy", unhealthyActions, problems)),
    ...given("warm", flags.warm),
    ...given("startTimeoutMs", ms("startTimeout")),
    ...given("stopTimeoutMs", stopTimeoutMs),
    ...given("stopSignal", parsed(flags.stopSignal, checkStopSignal, problems)),
    ...given("killMode", choice(flags, "killMode", killModes, problems)),
    ...given("killMarginMs", killMarginMs),
    ...given("cwd", flags.cwd),
    ...given("logPrefix", flags.logPrefix),
    ...given("deadlineFolder", flags.deadlineFolder),
    ...given("health", healthFrom(flags, problems)),
    ...given("hooks", hooksFrom(flags, problems)),
    ...given("maxRestarts", wholeNumber(flags, "maxRestarts", 0, problems)),
    ...given("restartWindowMs", ms("restartWindow")),
    // The problems of --cooldown are reported with those of the election.
    ...given("cooldownMs", durationReader(flags, [], { mayBeZero: true })("cooldown")),
  };
  const isPod = platform.env("KUBERNETES_SERVICE_HOST") !== undefined;
  const defaultPodGraceMs = isPod ? supervisorDefaults.podGraceMs : undefined;
  const podGraceMs = flags.podGracePeriod === undefined ? defaultPodGraceMs : orZero("podGracePeriod");
  problems.push(
    ...checkNesting({
      stopTimeoutMs: stopTimeoutMs ?? supervisorDefaults.stopTimeoutMs,
      ...given("podGraceMs", podGraceMs),
      ...given("childShutdownMs", orZero("childShutdown")),
      ...given("drainMs", orZero("childDrain")),
      ...given("killMarginMs", killMarginMs),
      ...leaseOf(flags),
    }),
  );
  return options;
}

/** What a login would set. */
function environmentOf({ name, home }: ChildUser): Record<string, string> {
  return { ...given("USER", name), ...given("LOGNAME", name), ...given("HOME", home) };
}

/** The timings of the election, if they are valid. */
function leaseOf(flags: RunFlags): Pick<Timeouts, "leaseDurationMs" | "renewDeadlineMs"> {
  const { value } = checkTimings(timingsFrom(flags));
  return value ? { leaseDurationMs: value.leaseDurationMs, renewDeadlineMs: value.renewDeadlineMs } : {};
}

function healthFrom(flags: ChildFlags, problems: Problem[]): HealthOptions | undefined {
  const ms = durationReader(flags, problems);
  const options = {
    ...given("periodMs", ms("healthPeriod")),
    ...given("timeoutMs", ms("healthTimeout")),
    ...given("initialDelayMs", durationReader(flags, problems, { mayBeZero: true })("healthDelay")),
    ...given("threshold", wholeNumber(flags, "healthThreshold", 1, problems)),
  };
  if (flags.health === undefined) {
    for (const field of ["healthPeriod", "healthTimeout", "healthDelay", "healthThreshold"] as const) {
      if (flags[field] !== undefined) problems.push({ field, rule: "requires {health}" });
    }
    return undefined;
  }
  const check = parsed(flags.health, checkHealth, problems);
  return check && { check, ...options };
}

function choice<const Value extends string>(
  flags: ChildFlags,
  field: TextFlag<ChildFlags>,
  allowed: readonly Value[],
  problems: Problem[],
): Value | undefined {
  const text = flags[field];
  const value = allowed.find((each) => each === text);
  if (text !== undefined && value === undefined) problems.push(oneOfProblem(field, allowed, text));
  return value;
}

type TextFlag<Flags> = {
  [Key in keyof Flags]-?: Flags[Key] extends string | undefined ? Key : never;
}[keyof Flags] &
  string;

/** Reads a duration from its flag, if it is given. */
function durationReader<Flags extends ChildFlags>(
  flags: Flags,
  problems: Problem[],
  options: { readonly mayBeZero?: boolean } = {},
): (field: TextFlag<Flags>) => number | undefined {
  return (field) =>
    flags[field] === undefined ? undefined : readDuration(field, flags[field], problems, options);
}

function wholeNumber(
  flags: ChildFlags,
  field: TextFlag<ChildFlags>,
  least: number,
  problems: Problem[],
): number | undefined {
  const text = flags[field];
  return text === undefined ? undefined : readWholeNumber(field, text, least, problems);
}

function parsed<T>(
  text: string | undefined,
  check: (text: string) => Checked<T>,
  problems: Problem[],
): T | undefined {
  if (text === undefined) return undefined;
  const result = check(text);
  problems.push(...result.problems);
  return result.value;
}

function given<Name extends string, T>(name: Name, value: T | undefined): { [key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: T };
}
