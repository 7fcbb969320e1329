/**
 * How long everything may take, and the check at start-up that it fits together. Upholds G1: timings with which the work
 * of a lost term could still run when the next term starts are rejected, with the numbers.
 *
 *     sent --- renewInterval --- renewDeadline (soft end) --- stopWithin --- hard deadline -- margin -- leaseDuration
 */
import {
  type Checked,
  checked,
  expectValid,
  formatDuration,
  oneOfProblem,
  type Problem,
  readDuration,
} from "@tenure/base";

export interface TimingOptions {
  /** The defaults of the next three durations. @default "standard" */
  readonly preset?: PresetName;
  /** How long the other candidates wait after the last change of the lock before they take it. Whole seconds. @default "15s" */
  readonly leaseDuration?: string;
  /** How long a leader keeps working after its last confirmed renewal. @default "10s" */
  readonly renewDeadline?: string;
  /** The longest pause before a failed request is repeated, and between two reads if there is no watch. @default "2s" */
  readonly retryPeriod?: string;
  /**
   * How often a healthy leader renews. A renewal may be up to a tenth of it early, so that a process sends its renewals together, but
   * none comes within 1 s of the last one. Below 1 s, client-go candidates may take the lease too early, because they do not
   * see the second of two renewals within one second. @default the smaller of leaseDuration / 5 and renewDeadline / 3, but
   * at least 1 s if renewDeadline is 2 s or more
   */
  readonly renewInterval?: string;
  /** How long the work takes to stop after its signal aborts. The timings must leave room for it. @default "0s" */
  readonly stopWithin?: string;
}

/** Checked timings. Every decision of a candidate takes its numbers from here. */
export interface Timings {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly renewIntervalMs: number;
  /** From sending the last confirmed write to the moment when the work of the term must have stopped. */
  readonly hardDeadlineMs: number;
  /** The time limit of a request. Three requests fit before the soft end, even if each of them hangs. */
  readonly attemptTimeoutMs: number;
}

export type PresetName = keyof typeof presets;

export const presets = {
  standard: { leaseDuration: "15s", renewDeadline: "10s", retryPeriod: "2s" },
  "fast-failover": { leaseDuration: "10s", renewDeadline: "8s", retryPeriod: "1s" },
  "low-load": { leaseDuration: "60s", renewDeadline: "45s", retryPeriod: "5s" },
} as const;

/** G1 holds while the clock rates of different machines differ by no more than this. */
export const clockRateTolerance = 0.01;
/** From the hard deadline to the earliest start of a successor. Covers timers that fire late and the time a kill takes. */
export const marginMs = 100;
/** client-go's JitterFactor. client-go requires renewDeadline to be greater than this times retryPeriod. */
const retryJitter = 1.2;
/** The usual advice for client-go. With less, one failed renewal and the wait after it take up the whole deadline. */
const advisedRetries = 2;
/** A lease of more than a day is a mistake in the unit. After a crash, nobody would lead for that long. */
const longestLeaseMs = 24 * 3_600_000;

/** More frequent requests are no faster; they only load the API server. */
const shortestPeriodMs = 50;

/**
 * client-go truncates the times of a record to seconds before it compares records. Of two renewals within one second it sees
 * only the first, counts the lease from there, and takes the lease before the second renewal expires.
 */
const visibleIntervalMs = 1_000;

/** From sending a write to the hard deadline that follows from it. */
export function hardDeadlineFor(leaseDurationMs: number): number {
  return leaseDurationMs * (1 - clockRateTolerance) - marginMs;
}

/** Leaves time to repeat a failed renewal before the soft end. */
function longestIntervalMs(renewDeadlineMs: number): number {
  return renewDeadlineMs / 2;
}

function usualIntervalMs(leaseDurationMs: number, renewDeadlineMs: number): number {
  const wantedMs = Math.min(leaseDurationMs / 5, renewDeadlineMs / 3);
  return visibleIntervalMs <= longestIntervalMs(renewDeadlineMs)
    ? Math.max(wantedMs, visibleIntervalMs)
    : wantedMs;
}

/**
 * How much earlier than due a renewal may be sent, so that a process sends all of its renewals that are due within this time together.
 * A process that leads a thousand elections needs a third less processor time for them than if it woke up for each. Two renewals stay
 * visible to client-go.
 */
export function renewEarlyMs({ renewIntervalMs }: Timings): number {
  return Math.max(0, Math.min(renewIntervalMs / 10, renewIntervalMs - visibleIntervalMs));
}

/** Timings that uphold G1, or every rule that the options break. */
export function checkTimings(options: TimingOptions = {}): Checked<Timings> {
  const problems: Problem[] = [];
  const presetNames = Object.keys(presets);
  const presetName = options.preset ?? "standard";
  const isPreset = presetNames.includes(presetName);
  if (!isPreset) problems.push(oneOfProblem("preset", presetNames, presetName));
  const preset = isPreset ? presets[presetName] : presets.standard;
  const read = (name: keyof TimingOptions, value: unknown): number =>
    readDuration(name, value, problems, { mayBeZero: name === "stopWithin" }) ?? Number.NaN;

  const leaseDurationMs = read("leaseDuration", options.leaseDuration ?? preset.leaseDuration);
  const renewDeadlineMs = read("renewDeadline", options.renewDeadline ?? preset.renewDeadline);
  const retryPeriodMs = read("retryPeriod", options.retryPeriod ?? preset.retryPeriod);
  const renewIntervalMs =
    options.renewInterval === undefined
      ? usualIntervalMs(leaseDurationMs, renewDeadlineMs)
      : read("renewInterval", options.renewInterval);
  const stopWithinMs = read("stopWithin", options.stopWithin ?? "0s");
  const hardDeadlineMs = hardDeadlineFor(leaseDurationMs);
  const attemptTimeoutMs = renewDeadlineMs / 4;

  // Comparisons with NaN are false, so a value that was already reported is not reported again.
  const mustHold = (isBroken: boolean, problem: Problem) => {
    if (isBroken) problems.push(problem);
  };
  mustHold(leaseDurationMs % 1_000 > 0, {
    field: "leaseDuration",
    rule: "must be whole seconds, because a Lease stores whole seconds",
    value: formatDuration(leaseDurationMs),
  });
  mustHold(leaseDurationMs > longestLeaseMs, {
    field: "leaseDuration",
    rule: `must be at most ${formatDuration(longestLeaseMs)}`,
    value: formatDuration(leaseDurationMs),
  });
  mustHold(renewDeadlineMs >= leaseDurationMs, {
    field: "renewDeadline",
    rule: "must be less than {leaseDuration}",
    limit: formatDuration(leaseDurationMs),
    value: formatDuration(renewDeadlineMs),
  });
  mustHold(renewDeadlineMs < leaseDurationMs && renewDeadlineMs + stopWithinMs > hardDeadlineMs, {
    field: "renewDeadline",
    rule: `plus {stopWithin} must not pass the hard deadline, which is {leaseDuration} less 1 % for clock drift and ${formatDuration(marginMs)}`,
    limit: formatDuration(hardDeadlineMs),
    value: `${formatDuration(renewDeadlineMs)} + ${formatDuration(stopWithinMs)}`,
  });
  mustHold(renewDeadlineMs <= retryPeriodMs * retryJitter, {
    field: "renewDeadline",
    rule: `must be greater than ${retryJitter} times {retryPeriod}`,
    limit: formatDuration(retryPeriodMs * retryJitter),
    value: formatDuration(renewDeadlineMs),
  });
  mustHold(renewIntervalMs > longestIntervalMs(renewDeadlineMs), {
    field: "renewInterval",
    rule: "must be at most half of {renewDeadline}, so that a failed renewal can be repeated",
    limit: formatDuration(longestIntervalMs(renewDeadlineMs)),
    value: formatDuration(renewIntervalMs),
  });
  for (const [field, ms] of Object.entries({ retryPeriod: retryPeriodMs, renewInterval: renewIntervalMs })) {
    mustHold(ms < shortestPeriodMs, {
      field,
      rule: `must be at least ${formatDuration(shortestPeriodMs)}`,
      value: formatDuration(ms),
    });
  }
  const timings = {
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    renewIntervalMs,
    hardDeadlineMs,
    attemptTimeoutMs,
  };
  return checked(timings, problems);
}

/** Timings that are known to be valid. Throws if they are not. */
export function resolveTimings(options: TimingOptions = {}): Timings {
  return expectValid(checkTimings(options));
}

/** What is allowed but not advisable. Empty if the options have problems: those are reported instead. */
export function timingWarnings(options: TimingOptions = {}): readonly Problem[] {
  const { value } = checkTimings(options);
  if (!value) return [];
  const leastMs = value.retryPeriodMs * advisedRetries;
  if (value.renewDeadlineMs > leastMs) return [];
  return [
    {
      field: "renewDeadline",
      rule: `should be greater than ${advisedRetries} times {retryPeriod}, so that a failed renewal can be repeated`,
      limit: formatDuration(leastMs),
      value: formatDuration(value.renewDeadlineMs),
    },
  ];
}
