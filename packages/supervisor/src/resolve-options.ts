/** The defaults of the options, and their check: every problem is named at once, before anything runs. */
import { SupervisorError } from "./errors.ts";
import type { HealthOptions, SupervisorOptions } from "./options.ts";

export type ResolvedHealth = Required<HealthOptions>;

type Optional =
  | "electionName"
  | "cwd"
  | "logPrefix"
  | "stdout"
  | "stderr"
  | "deadlineFolder"
  | "clock"
  | "health";

export type ResolvedOptions = Required<Omit<SupervisorOptions, Optional>> &
  Pick<SupervisorOptions, Exclude<Optional, "health">> & { readonly health: ResolvedHealth | undefined };

export function resolveOptions(options: SupervisorOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    ...options,
    args: options.args ?? [],
    env: options.env ?? {},
    ready: options.ready ?? { kind: "spawn" },
    startTimeoutMs: options.startTimeoutMs ?? 60_000,
    stopTimeoutMs: options.stopTimeoutMs ?? 25_000,
    killMarginMs: options.killMarginMs ?? 500,
    onExit: options.onExit ?? "restart",
    maxRestarts: options.maxRestarts ?? 5,
    restartWindowMs: options.restartWindowMs ?? 600_000,
    stableAfterMs: options.stableAfterMs ?? 60_000,
    cooldownMs: options.cooldownMs ?? 30_000,
    gates: options.gates ?? [],
    health: options.health && {
      check: options.health.check,
      periodMs: options.health.periodMs ?? 10_000,
      timeoutMs: options.health.timeoutMs ?? 1_000,
      initialDelayMs: options.health.initialDelayMs ?? 0,
      threshold: options.health.threshold ?? 3,
    },
  };
  const problems = problemsOf(resolved);
  if (problems.length > 0) {
    const message = `Cannot set up the supervisor: ${problems.join("; ")}.`;
    throw new SupervisorError("InvalidOptions", message, { problems });
  }
  return resolved;
}

function problemsOf(options: ResolvedOptions): string[] {
  const { health } = options;
  const problems: string[] = [];
  if (typeof options.election?.run !== "function") problems.push("election must be an Election");
  if (typeof options.command !== "string" || options.command === "") {
    problems.push(`command must name a program: ${JSON.stringify(options.command)}`);
  }
  const words = [options.command, ...options.args, ...Object.entries(options.env).flat()];
  if (words.some((word) => typeof word !== "string" || word.includes("\0"))) {
    problems.push("command, args and env must be texts without a null character");
  }
  if (!["restart", "release", "exit"].includes(options.onExit)) {
    problems.push(`onExit must be "restart", "release" or "exit": ${JSON.stringify(options.onExit)}`);
  }
  const { startTimeoutMs, stopTimeoutMs, killMarginMs, restartWindowMs, stableAfterMs, cooldownMs } = options;
  const positive = { startTimeoutMs, stopTimeoutMs, killMarginMs, restartWindowMs, stableAfterMs };
  for (const [name, ms] of Object.entries({
    ...positive,
    ...(health && { "health.periodMs": health.periodMs, "health.timeoutMs": health.timeoutMs }),
  })) {
    if (!(Number.isFinite(ms) && ms > 0)) problems.push(`${name} must be a number greater than zero: ${ms}`);
  }
  for (const [name, ms] of Object.entries({
    cooldownMs,
    ...(health && { "health.initialDelayMs": health.initialDelayMs }),
  })) {
    if (!(Number.isFinite(ms) && ms >= 0)) problems.push(`${name} must be a number of zero or more: ${ms}`);
  }
  if (!(Number.isInteger(options.maxRestarts) && options.maxRestarts >= 0)) {
    problems.push(`maxRestarts must be a whole number of zero or more: ${options.maxRestarts}`);
  }
  if (health && !(Number.isInteger(health.threshold) && health.threshold >= 1)) {
    problems.push(`health.threshold must be a whole number of one or more: ${health.threshold}`);
  }
  return problems;
}
