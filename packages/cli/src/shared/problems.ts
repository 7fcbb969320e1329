// Everything that is wrong with a command line is said at once, in the words of the command line.

import { parseDuration } from "@tenure/base";
import { CliError } from "../errors.ts";

/** Throws if there is any problem. @param cannot what cannot be done: "start" */
export function refuse(problems: readonly string[], cannot = "start"): void {
  if (problems.length === 0) return;
  if (problems.length === 1) throw new CliError("USAGE", problems[0] as string);
  const list = problems.map((problem) => `\n  - ${problem}`).join("");
  throw new CliError("USAGE", `Cannot ${cannot} as ${problems.length} things are wrong:${list}`);
}

/** The same sentence with the names of options as they are typed: leaseDuration is --lease-duration. */
export function inFlagWords(problem: string, names: Readonly<Record<string, string>>): string {
  return Object.entries(names).reduce(
    (text, [name, flag]) => text.replace(new RegExp(`\\b${name}\\b`, "g"), flag),
    problem,
  );
}

/** The milliseconds of a duration such as "15s"; undefined if it was not given, or is none, which is then a problem. */
export function durationMs(flag: string, text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined)
    problems.push(`${flag} must be a duration such as "15s" or "500ms": ${JSON.stringify(text)}`);
  return ms;
}

/** The one of `known` that is most like `typed`, if any is like it at all. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (!best || distance < best.distance) best = { name, distance };
  }
  // As much of it wrong as right is no likeness.
  return best && best.distance <= Math.max(2, typed.length / 3) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
