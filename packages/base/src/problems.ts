/**
 * A problem with a setting, as data. A check returns problems. Its caller decides what the settings are called:
 * a library uses the names of its options, the command the names of its flags.
 */
import { parseDuration } from "./duration.ts";

export interface Problem {
  /** The setting that is wrong. */
  readonly field: string;
  /** What the setting must be. `{other}` stands for the name of another setting. */
  readonly rule: string;
  /** The bound that the rule speaks of, if the rule alone does not show it. */
  readonly limit?: string;
  /** The value that breaks the rule; absent if there is none. */
  readonly value?: string;
  /** What to do about it. `{other}` stands for the name of another setting. */
  readonly fix?: string;
}

/** The result of a check: a value, or every problem that was found. */
export type Checked<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value: undefined; readonly problems: readonly Problem[] };

export function checked<T>(value: T, problems: readonly Problem[]): Checked<T> {
  return problems.length === 0 ? { value, problems: [] } : { value: undefined, problems };
}

/** The value of a check that must succeed. Throws an error that names every problem. */
export function expectValid<T>({ value, problems }: Checked<T>): T {
  if (problems.length > 0) throw new Error(`${describeProblems(problems).join("; ")}.`);
  return value as T;
}

/** One sentence without a full stop: "renewDeadline must be less than leaseDuration (15s), but is 20s". */
export function describeProblem(
  { field, rule, limit, value, fix }: Problem,
  nameOf: (field: string) => string = (name) => name,
): string {
  const named = (text: string) => text.replace(/\{([\w.]+)\}/g, (_, name: string) => nameOf(name));
  const bound = limit === undefined ? "" : ` (${limit})`;
  const found = value === undefined ? "" : `, but is ${value}`;
  return `${nameOf(field)} ${named(rule)}${bound}${found}${fix === undefined ? "" : `; ${named(fix)}`}`;
}

export function describeProblems(
  problems: readonly Problem[],
  nameOf?: (field: string) => string,
): readonly string[] {
  return problems.map((problem) => describeProblem(problem, nameOf));
}

/** A value as it appears in a message: short, and with its quotation marks if it is a text. */
export function quote(value: unknown): string {
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}

export function durationProblem(field: string, value: unknown): Problem {
  return { field, rule: 'must be a duration like "15s" or "500ms"', value: quote(value) };
}

export function notPositiveProblem(field: string, value: unknown): Problem {
  return { field, rule: "must be greater than zero", value: String(value) };
}

export function wholeNumberProblem(field: string, least: number, value: unknown): Problem {
  return { field, rule: `must be a whole number of ${least} or more`, value: quote(value) };
}

export function oneOfProblem(field: string, allowed: readonly string[], value: unknown): Problem {
  const meant = typeof value === "string" ? nearest(value, allowed) : undefined;
  return {
    field,
    rule: `must be one of ${allowed.join(", ")}`,
    value: quote(value),
    ...(meant !== undefined && { fix: `did you mean ${meant}?` }),
  };
}

/**
 * One problem for each option that does not exist, because a misspelled option would otherwise be ignored in silence.
 * @param known an entry for each option that exists, so that the compiler notices a missing one
 */
export function unknownOptions<Options extends object>(
  options: Options | undefined,
  known: Readonly<Record<keyof Options, true>>,
): readonly Problem[] {
  const names = Object.keys(known);
  return Object.keys(options ?? {})
    .filter((name) => !Object.hasOwn(known, name))
    .map((field) => {
      const meant = nearest(field, names);
      return {
        field,
        rule: "is not an option",
        fix: meant === undefined ? `the options are ${names.join(", ")}` : `did you mean ${meant}?`,
      };
    });
}

/** The milliseconds of a duration. Adds a problem if it is not one, or if it is zero and may not be. */
export function readDuration(
  field: string,
  text: unknown,
  problems: Problem[],
  { mayBeZero = false }: { readonly mayBeZero?: boolean } = {},
): number | undefined {
  const ms = parseDuration(text);
  if (ms === undefined) problems.push(durationProblem(field, text));
  else if (ms <= 0 && !mayBeZero) problems.push(notPositiveProblem(field, text));
  else return ms;
  return undefined;
}

/** The number that a text holds. Adds a problem if it is not a whole number of `least` or more. */
export function readWholeNumber(
  field: string,
  text: string,
  least: number,
  problems: Problem[],
): number | undefined {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  problems.push(wholeNumberProblem(field, least, text));
  return undefined;
}

/** The known name that is most similar to what was typed, if any is similar at all. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (!best || distance < best.distance) best = { name, distance };
  }
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
