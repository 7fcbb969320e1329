/** Options with their defaults. Every problem with them is reported at once, before anything runs. */
import { notPositiveProblem, oneOfProblem, type Problem, quote, wholeNumberProblem } from "@tenure/base";
import { invalidOptions } from "./errors.ts";
import {
  exitActions,
  type HealthOptions,
  type HookOptions,
  type Hooks,
  type SupervisorOptions,
  supervisorDefaults,
  unhealthyActions,
} from "./options.ts";
import { checkStopSignal, killModes } from "./process/stop-signal.ts";

type ResolvedHealth = Required<HealthOptions>;

type Optional =
  | "electionName"
  | "cwd"
  | "user"
  | "logPrefix"
  | "stdout"
  | "stderr"
  | "deadlineFolder"
  | "watchdog"
  | "clock"
  | "completion"
  | "health"
  | "hooks";

type ResolvedHooks = { readonly [Name in keyof Hooks]?: Required<HookOptions> };

export type ResolvedOptions = Required<Omit<SupervisorOptions, Optional>> &
  Pick<SupervisorOptions, Exclude<Optional, "health" | "hooks">> & {
    readonly health: ResolvedHealth | undefined;
    readonly hooks: ResolvedHooks;
  };

export function resolveOptions(options: SupervisorOptions): ResolvedOptions {
  const { health } = options;
  const resolved: ResolvedOptions = {
    ...options,
    args: options.args ?? [],
    env: options.env ?? {},
    ready: options.ready ?? { kind: "spawn" },
    startTimeoutMs: options.startTimeoutMs ?? supervisorDefaults.startTimeoutMs,
    stopTimeoutMs: options.stopTimeoutMs ?? supervisorDefaults.stopTimeoutMs,
    stopSignal: options.stopSignal ?? supervisorDefaults.stopSignal,
    killMode: options.killMode ?? supervisorDefaults.killMode,
    killMarginMs: options.killMarginMs ?? supervisorDefaults.killMarginMs,
    onExit: options.onExit ?? supervisorDefaults.onExit,
    maxRestarts: options.maxRestarts ?? supervisorDefaults.maxRestarts,
    restartWindowMs: options.restartWindowMs ?? supervisorDefaults.restartWindowMs,
    stableAfterMs: options.stableAfterMs ?? supervisorDefaults.stableAfterMs,
    cooldownMs: options.cooldownMs ?? supervisorDefaults.cooldownMs,
    whenUnhealthy: options.whenUnhealthy ?? supervisorDefaults.whenUnhealthy,
    warm: options.warm ?? false,
    hooks: resolveHooks(options.hooks ?? {}),
    gates: options.gates ?? [],
    health: health && {
      check: health.check,
      periodMs: health.periodMs ?? supervisorDefaults.healthPeriodMs,
      timeoutMs: health.timeoutMs ?? supervisorDefaults.healthTimeoutMs,
      initialDelayMs: health.initialDelayMs ?? supervisorDefaults.healthDelayMs,
      threshold: health.threshold ?? supervisorDefaults.healthThreshold,
    },
  };
  const problems = problemsOf(resolved);
  if (problems.length > 0) throw invalidOptions("set up the supervisor", problems);
  return resolved;
}

function resolveHooks(hooks: Hooks): ResolvedHooks {
  const entries = Object.entries(hooks).filter(([, hook]) => hook !== undefined);
  return Object.fromEntries(
    entries.map(([name, hook]) => [name, { timeoutMs: supervisorDefaults.hookTimeoutMs, ...hook }]),
  );
}

function problemsOf(options: ResolvedOptions): Problem[] {
  const { health } = options;
  const problems: Problem[] = [];
  if (typeof options.election?.run !== "function") {
    problems.push({ field: "election", rule: "must be an Election" });
  }
  if (typeof options.command !== "string" || options.command === "") {
    problems.push({ field: "command", rule: "must name a program", value: quote(options.command) });
  }
  const words = [options.command, ...options.args, ...Object.entries(options.env).flat()];
  if (words.some((word) => typeof word !== "string" || word.includes("\0"))) {
    problems.push({
      field: "command",
      rule: "and {args} and {env} must be strings without a null character",
    });
  }
  const { value: stopSignal, problems: signalProblems } = checkStopSignal(String(options.stopSignal));
  if (stopSignal === undefined) problems.push(...signalProblems);
  if (!killModes.includes(options.killMode)) {
    problems.push(oneOfProblem("killMode", killModes, options.killMode));
  }
  if (!exitActions.includes(options.onExit)) {
    problems.push(oneOfProblem("onExit", exitActions, options.onExit));
  }
  if (!unhealthyActions.includes(options.whenUnhealthy)) {
    problems.push(oneOfProblem("whenUnhealthy", unhealthyActions, options.whenUnhealthy));
  }
  const { startTimeoutMs, stopTimeoutMs, killMarginMs, restartWindowMs, stableAfterMs, cooldownMs } = options;
  const positive = { startTimeoutMs, stopTimeoutMs, killMarginMs, restartWindowMs, stableAfterMs };
  for (const [name, ms] of Object.entries({
    ...positive,
    ...Object.fromEntries(
      Object.entries(options.hooks).map(([name, hook]) => [`hooks.${name}.timeoutMs`, hook?.timeoutMs]),
    ),
    ...(health && { "health.periodMs": health.periodMs, "health.timeoutMs": health.timeoutMs }),
  })) {
    if (!(Number.isFinite(ms) && ms > 0)) problems.push(notPositiveProblem(name, ms));
  }
  for (const [field, ms] of Object.entries({
    cooldownMs,
    ...(health && { "health.initialDelayMs": health.initialDelayMs }),
  })) {
    if (!(Number.isFinite(ms) && ms >= 0)) {
      problems.push({ field, rule: "must be zero or more", value: String(ms) });
    }
  }
  if (!(Number.isInteger(options.maxRestarts) && options.maxRestarts >= 0)) {
    problems.push(wholeNumberProblem("maxRestarts", 0, options.maxRestarts));
  }
  if (health && !(Number.isInteger(health.threshold) && health.threshold >= 1)) {
    problems.push(wholeNumberProblem("health.threshold", 1, health.threshold));
  }
  return problems;
}
