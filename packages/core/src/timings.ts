/**
 * How long everything may take, and the proof at start-up that it fits together. Upholds G1: a set of timings in which
 * a lost term could still be working when the next one starts is refused, with the numbers.
 *
 *     sent ─── renewInterval ─── renewDeadline (soft end) ─── stopWithin ─── hard deadline ── margin ── leaseDuration
 */
import { formatDuration, parseDuration } from "@tenure/base";
import { CoreError } from "./errors.ts";

export interface TimingOptions {
  /** Where the three durations below start from. @default "standard" */
  readonly preset?: PresetName;
  /** How long after the last change of the lock the others wait before they take it. Whole seconds. @default "15s" */
  readonly leaseDuration?: string;
  /** How long after its last confirmed renewal a leader stops working on its own accord. @default "10s" */
  readonly renewDeadline?: string;
  /** The longest pause between two tries of something that failed, and between two reads where there is no watch. @default "2s" */
  readonly retryPeriod?: string;
  /**
   * How often a healthy leader renews. Below 1 s, candidates on client-go may take the lease too early: they do not see the
   * second of two renewals within one second. @default the smaller of leaseDuration / 5 and renewDeadline / 3, but 1 s where
   * that is less and renewDeadline is 2 s or more
   */
  readonly renewInterval?: string;
  /** How long the work needs to be gone after its signal aborts; the timings must leave room for it. @default "0s" */
  readonly stopWithin?: string;
}

/** Checked timings. All of one candidate's decisions take their numbers from here. */
export interface Timings {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly renewIntervalMs: number;
  /** From the sending of the last confirmed write to the moment when nothing of the term may run. */
  readonly hardDeadlineMs: number;
  /** After this long a request is given up, so that three of them fit before the soft end even if each hangs. */
  readonly attemptTimeoutMs: number;
}

export type PresetName = keyof typeof presets;

export const presets = {
  standard: { leaseDuration: "15s", renewDeadline: "10s", retryPeriod: "2s" },
  "fast-failover": { leaseDuration: "10s", renewDeadline: "8s", retryPeriod: "1s" },
  "low-load": { leaseDuration: "60s", renewDeadline: "45s", retryPeriod: "5s" },
} as const;

/** G1 holds while clocks on different machines run at the same rate within this. */
export const clockRateTolerance = 0.01;
/** Between the hard deadline and the first moment of a successor: timers that fire late, a kill that takes its time. */
export const marginMs = 100;
/** client-go's JitterFactor: its own candidates sleep up to this times longer than retryPeriod. */
const retryJitter = 1.2;
/** A lease longer than a day is a unit that went wrong, and would stop the service for as long after a crash. */
const longestLeaseMs = 24 * 3_600_000;

/** More often is not faster, only a load on the API server. */
const shortestPeriodMs = 50;

/**
 * client-go compares records with their times cut to seconds. Of two renewals within one second it sees the first alone,
 * counts the lease from there, and takes it before the second one's time is over.
 */
const visibleIntervalMs = 1_000;

/** From sending a write to the hard deadline that it gives. */
export function hardDeadlineFor(leaseDurationMs: number): number {
  return leaseDurationMs * (1 - clockRateTolerance) - marginMs;
}

/** A failed renewal can be repeated before the soft end. */
function longestIntervalMs(renewDeadlineMs: number): number {
  return renewDeadlineMs / 2;
}

function usualIntervalMs(leaseDurationMs: number, renewDeadlineMs: number): number {
  const wantedMs = Math.min(leaseDurationMs / 5, renewDeadlineMs / 3);
  return visibleIntervalMs <= longestIntervalMs(renewDeadlineMs)
    ? Math.max(wantedMs, visibleIntervalMs)
    : wantedMs;
}

/** Timings that hold G1, or one error that names every violation with its numbers. */
export function resolveTimings(options: TimingOptions = {}): Timings {
  const problems: string[] = [];
  const presetName = options.preset ?? "standard";
  const preset = Object.hasOwn(presets, presetName) ? presets[presetName] : undefined;
  if (!preset) {
    problems.push(`preset must be one of ${Object.keys(presets).join(", ")}: ${JSON.stringify(presetName)}`);
  }
  const read = (name: keyof TimingOptions, fallback: string): number => {
    const value = options[name] ?? fallback;
    const ms = parseDuration(value);
    if (ms === undefined)
      problems.push(`${name} must be a duration such as "15s" or "500ms": ${quote(value)}`);
    else if (ms <= 0 && name !== "stopWithin") problems.push(`${name} must be greater than zero: ${value}`);
    else return ms;
    return Number.NaN;
  };
  const base = preset ?? presets.standard;
  const leaseDurationMs = read("leaseDuration", base.leaseDuration);
  const renewDeadlineMs = read("renewDeadline", base.renewDeadline);
  const retryPeriodMs = read("retryPeriod", base.retryPeriod);
  const renewIntervalMs =
    options.renewInterval === undefined
      ? usualIntervalMs(leaseDurationMs, renewDeadlineMs)
      : read("renewInterval", "");
  const stopWithinMs = read("stopWithin", "0s");
  const hardDeadlineMs = hardDeadlineFor(leaseDurationMs);

  // Comparisons with NaN are false, so a value that was already reported is not reported again.
  if (leaseDurationMs % 1_000 !== 0 && leaseDurationMs > 0) {
    problems.push(
      `leaseDuration must be whole seconds, as a Lease can hold no others: ${formatDuration(leaseDurationMs)}`,
    );
  }
  if (leaseDurationMs > longestLeaseMs) {
    problems.push(
      `leaseDuration must be at most ${formatDuration(longestLeaseMs)}: ${formatDuration(leaseDurationMs)}`,
    );
  }
  if (renewDeadlineMs >= leaseDurationMs) {
    problems.push(
      `renewDeadline must be less than leaseDuration: ${formatDuration(renewDeadlineMs)} >= ${formatDuration(leaseDurationMs)}`,
    );
  } else if (renewDeadlineMs + stopWithinMs > hardDeadlineMs) {
    problems.push(
      `renewDeadline + stopWithin must end before the hard deadline, which is leaseDuration less 1 % for clocks and ` +
        `${formatDuration(marginMs)}: ${formatDuration(renewDeadlineMs)} + ${formatDuration(stopWithinMs)} > ${formatDuration(hardDeadlineMs)}`,
    );
  }
  if (renewDeadlineMs <= retryPeriodMs * retryJitter) {
    problems.push(
      `renewDeadline must be greater than ${retryJitter} times retryPeriod: ` +
        `${formatDuration(renewDeadlineMs)} <= ${retryJitter} * ${formatDuration(retryPeriodMs)}`,
    );
  }
  if (renewIntervalMs > longestIntervalMs(renewDeadlineMs)) {
    problems.push(
      `renewInterval must be at most half of renewDeadline, so that a failed renewal can be repeated: ` +
        `${formatDuration(renewIntervalMs)} > ${formatDuration(renewDeadlineMs)} / 2`,
    );
  }
  for (const [name, ms] of Object.entries({ retryPeriod: retryPeriodMs, renewInterval: renewIntervalMs })) {
    if (ms < shortestPeriodMs) {
      problems.push(`${name} must be at least ${formatDuration(shortestPeriodMs)}: ${formatDuration(ms)}`);
    }
  }
  if (problems.length > 0) throw new CoreError("InvalidTimings", problems);
  const attemptTimeoutMs = renewDeadlineMs / 4;
  return {
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
    renewIntervalMs,
    hardDeadlineMs,
    attemptTimeoutMs,
  };
}

function quote(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
