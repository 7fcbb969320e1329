/** The part of the time axis that is visible. Pure. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

const shortestMs = 50;
const longestMs = 400 * 86_400_000;

export function zoom(range: TimeRange, factor: number, aroundMs: number): TimeRange {
  const lengthMs = range.toMs - range.fromMs;
  const nextMs = Math.min(Math.max(lengthMs * factor, shortestMs), longestMs);
  const before = (aroundMs - range.fromMs) / lengthMs;
  const fromMs = aroundMs - before * nextMs;
  return { fromMs, toMs: fromMs + nextMs };
}

/** @param part of the visible length; negative for earlier */
export function pan({ fromMs, toMs }: TimeRange, part: number): TimeRange {
  const byMs = (toMs - fromMs) * part;
  return { fromMs: fromMs + byMs, toMs: toMs + byMs };
}

/** Room to the right of the present, for marks in the future. */
const futurePart = 0.08;

/** The same length, with the present near the right edge. */
export function follow({ fromMs, toMs }: TimeRange, nowMs: number): TimeRange {
  const lengthMs = toMs - fromMs;
  const endMs = nowMs + lengthMs * futurePart;
  return { fromMs: endMs - lengthMs, toMs: endMs };
}

/** Everything, with a margin. */
export function fit(fromMs: number, toMs: number): TimeRange {
  const lengthMs = Math.max(toMs - fromMs, 1_000);
  return { fromMs: fromMs - lengthMs * 0.02, toMs: toMs + lengthMs * futurePart };
}

export interface Tick {
  readonly ms: number;
  readonly label: string;
}

const steps: readonly number[] = [
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
  ...[1, 2, 7, 14, 30, 90].map((days) => days * 86_400_000),
];

/** @param offsetMs of the local time from UTC, so that ticks are at full local hours */
export function ticksIn({ fromMs, toMs }: TimeRange, widthPx: number, offsetMs: number): Tick[] {
  const most = Math.max(2, widthPx / 90);
  const stepMs = steps.find((step) => (toMs - fromMs) / step <= most) ?? (steps.at(-1) as number);
  const ticks: Tick[] = [];
  for (let ms = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs - offsetMs; ms <= toMs; ms += stepMs)
    ticks.push({ ms, label: labelOf(ms + offsetMs, stepMs) });
  return ticks;
}

/** The local time, to the digit that the step needs. */
function labelOf(localMs: number, stepMs: number): string {
  const iso = new Date(localMs).toISOString();
  if (stepMs < 1_000) return iso.slice(11, 23);
  if (stepMs < 60_000) return iso.slice(11, 19);
  if (stepMs < 86_400_000 && localMs % 86_400_000 !== 0) return iso.slice(11, 16);
  return iso.slice(0, 10);
}

/** "14:03:21.123" by the local clock of the viewer. */
export function timeOfDay(ms: number, offsetMs: number): string {
  return new Date(ms + offsetMs).toISOString().slice(11, 23);
}
