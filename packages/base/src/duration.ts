/**
 * Durations as people write them: "15s", "500ms", "1m30s".
 * A bare number is rejected on purpose: it means nanoseconds in Go, milliseconds in Node and seconds in a Lease.
 */

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The milliseconds of a duration like "15s", or undefined if the value is not a duration. */
export function parseDuration(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit as string] as number);
  }
  // Rounded to the microsecond: 4.1 minutes are 246 s, not the 245.99999999999997 s of binary fractions.
  return Math.round(total * 1_000) / 1_000;
}

/** The shortest way to write a duration: 15000 is "15s", 1500 is "1.5s", 90000 is "1.5m". */
export function formatDuration(ms: number): string {
  if (ms >= 3_600_000 && ms % 360_000 === 0) return `${ms / 3_600_000}h`;
  if (ms >= 60_000 && ms % 6_000 === 0) return `${ms / 60_000}m`;
  if (ms >= 1_000 && ms % 10 === 0) return `${ms / 1_000}s`;
  return `${Math.round(ms * 1_000) / 1_000}ms`;
}
