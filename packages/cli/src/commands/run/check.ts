/** What the flags of `tenure run` mean. Everything that is wrong with them is named at once, before anything is started. */
import { type Checked, describeProblems } from "@tenure/base";
import { checkTimings } from "@tenure/core";
import {
  checkHealth,
  checkNesting,
  checkReady,
  type HealthOptions,
  type OnExit,
  type SupervisorOptions,
  type Timeouts,
} from "@tenure/supervisor";
import type { Platform } from "../../platform.ts";
import { timingsFrom } from "../../shared/election-from.ts";
import { durationMs, nearest } from "../../shared/problems.ts";
import type { ChildFlags, RunFlags } from "./options.ts";

/** What Kubernetes gives a pod that says nothing else. */
const defaultPodGraceMs = 30_000;
const defaultStopTimeoutMs = 25_000;
const exits: readonly OnExit[] = ["restart", "release", "exit"];

const flagNames: Readonly<Record<string, string>> = {
  podGraceMs: "--pod-grace-period",
  stopTimeoutMs: "--stop-timeout",
  childShutdownMs: "--child-shutdown",
  drainMs: "--child-drain",
  killMarginMs: "--kill-margin",
  leaseDurationMs: "--lease-duration",
  renewDeadlineMs: "--renew-deadline",
  ready: "--ready",
  health: "--health",
};

const flagName = (field: string) => flagNames[field] ?? field;

/** What the flags say to the supervisor; the election, the command and the rest come from elsewhere. */
export type ChildOptions = Omit<SupervisorOptions, "election" | "command">;

export function childOptions(flags: RunFlags, platform: Platform, problems: string[]): ChildOptions {
  const ms = (flag: string, text: string | undefined) => durationMs(flag, text, problems);
  const positive = (flag: string, text: string | undefined) => positiveMs(flag, text, problems);
  const stopTimeoutMs = ms("--stop-timeout", flags.stopTimeout);
  const killMarginMs = ms("--kill-margin", flags.killMargin);
  const ready = parsed(flags.ready, checkReady, problems);
  const onExit = exitFrom(flags, problems);
  const options = {
    ...given("ready", ready),
    ...given("startTimeoutMs", positive("--start-timeout", flags.startTimeout)),
    ...given("stopTimeoutMs", stopTimeoutMs),
    ...given("killMarginMs", killMarginMs),
    ...given("cwd", flags.cwd),
    ...given("logPrefix", flags.logPrefix),
    ...given("deadlineFolder", flags.deadlineFolder),
    ...given("health", healthFrom(flags, problems)),
    ...given("onExit", onExit),
    ...given("maxRestarts", wholeNumber("--max-restarts", flags.maxRestarts, 0, problems)),
    ...given("restartWindowMs", positive("--restart-window", flags.restartWindow)),
    // Its problems are told with those of the election.
    ...given("cooldownMs", durationMs("--cooldown", flags.cooldown, [])),
  };
  const isPod = platform.env("KUBERNETES_SERVICE_HOST") !== undefined;
  const podGraceMs =
    ms("--pod-grace-period", flags.podGracePeriod) ??
    (isPod && flags.podGracePeriod === undefined ? defaultPodGraceMs : undefined);
  const nested = checkNesting({
    stopTimeoutMs: stopTimeoutMs ?? defaultStopTimeoutMs,
    ...given("podGraceMs", podGraceMs),
    ...given("childShutdownMs", ms("--child-shutdown", flags.childShutdown)),
    ...given("drainMs", ms("--child-drain", flags.childDrain)),
    ...given("killMarginMs", killMarginMs),
    ...leaseOf(flags),
  });
  problems.push(...describeProblems(nested, flagName));
  return options;
}

/** The timings of the election, if they are right by themselves. */
function leaseOf(flags: RunFlags): Pick<Timeouts, "leaseDurationMs" | "renewDeadlineMs"> {
  const { value } = checkTimings(timingsFrom(flags));
  return value ? { leaseDurationMs: value.leaseDurationMs, renewDeadlineMs: value.renewDeadlineMs } : {};
}

function healthFrom(flags: ChildFlags, problems: string[]): HealthOptions | undefined {
  const periodMs = positiveMs("--health-period", flags.healthPeriod, problems);
  const timeoutMs = positiveMs("--health-timeout", flags.healthTimeout, problems);
  const initialDelayMs = durationMs("--health-delay", flags.healthDelay, problems);
  const threshold = wholeNumber("--health-threshold", flags.healthThreshold, 1, problems);
  if (flags.health === undefined) {
    const idle = Object.entries({
      "--health-period": flags.healthPeriod,
      "--health-timeout": flags.healthTimeout,
      "--health-delay": flags.healthDelay,
      "--health-threshold": flags.healthThreshold,
    }).filter(([, value]) => value !== undefined);
    for (const [flag] of idle)
      problems.push(`${flag} means nothing without --health: say what is to be checked`);
    return undefined;
  }
  const check = parsed(flags.health, checkHealth, problems);
  if (!check) return undefined;
  return {
    check,
    ...given("periodMs", periodMs),
    ...given("timeoutMs", timeoutMs),
    ...given("initialDelayMs", initialDelayMs),
    ...given("threshold", threshold),
  };
}

function positiveMs(flag: string, text: string | undefined, problems: string[]): number | undefined {
  const ms = durationMs(flag, text, problems);
  if (ms === 0) problems.push(`${flag} must be greater than zero: ${text}`);
  return ms;
}

function exitFrom({ onExit }: ChildFlags, problems: string[]): OnExit | undefined {
  if (onExit === undefined || exits.includes(onExit as OnExit)) return onExit as OnExit | undefined;
  const meant = nearest(onExit, exits);
  problems.push(
    `--on-exit must be one of ${exits.join(", ")}: ${JSON.stringify(onExit)}${meant ? `; did you mean ${meant}?` : ""}`,
  );
  return undefined;
}

function parsed<T>(
  text: string | undefined,
  check: (text: string) => Checked<T>,
  problems: string[],
): T | undefined {
  if (text === undefined) return undefined;
  const result = check(text);
  problems.push(...describeProblems(result.problems, flagName));
  return result.value;
}

function wholeNumber(
  flag: string,
  text: string | undefined,
  least: number,
  problems: string[],
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  problems.push(`${flag} must be a whole number, ${least} or more: ${JSON.stringify(text)}`);
  return undefined;
}

function given<Name extends string, T>(name: Name, value: T | undefined): { [key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [key in Name]?: T };
}
