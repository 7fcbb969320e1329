/** Durations for people: 3m12s, 4d2h. At most two units, like kubectl. */

const units: readonly (readonly [string, number])[] = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
];

/** 192_000 is "3m12s". Below ten seconds there is one decimal: "1.5s". */
export function spell(ms: number): string {
  if (ms < 0) return `-${spell(-ms)}`;
  if (ms < 9_950) return `${Math.round(ms / 100) / 10}s`;
  let seconds = Math.round(ms / 1_000);
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
    // 4d2h, but not 4d7s: seconds do not matter beside days.
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join("");
}

export function ago(ms: number): string {
  return ms < 0 ? `in ${spell(-ms)}` : `${spell(ms)} ago`;
}
