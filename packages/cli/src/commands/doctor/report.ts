/** The result of a check, for people and for programs. */
import { type Paint, withoutControls } from "../../display/paint.ts";
import type { Advice } from "./advice.ts";

type Verdict =
  /** Nothing is wrong. */
  | "ok"
  /** A problem that breaks the election now or later. Makes the exit code 1. */
  | "finding"
  /** Worth knowing, but may be intended. */
  | "hint"
  /** Could not be checked. */
  | "skipped";

export interface Report {
  /** The name of the check, which stays the same between versions. */
  readonly check: string;
  readonly verdict: Verdict;
  /** The election, such as `prod/billing`; undefined for the connection. */
  readonly about?: string;
  readonly what: string;
  /** How to fix it, in words. */
  readonly fix?: string;
  /** A command for a shell that fixes it, if there is one that nobody needs to think about first. */
  readonly command?: string;
}

export const ok = (check: string, what: string, about?: string): Report => made("ok", check, what, about);
export const skipped = (check: string, what: string, about?: string, fix?: string): Report => ({
  ...made("skipped", check, what, about),
  ...(fix !== undefined && { fix }),
});
export const finding = (check: string, what: string, fix: Fix, about?: string): Report => ({
  ...made("finding", check, what, about),
  ...fixOf(fix),
});
export const hint = (check: string, what: string, fix: Fix, about?: string): Report => ({
  ...made("hint", check, what, about),
  ...fixOf(fix),
});

/** Words, or words and a command. */
export type Fix = string | { readonly fix: string; readonly command: string };

/** Words, and a command unless it is undefined. */
export function fixWith(fix: string, command: string | undefined): Fix {
  return command === undefined ? fix : { fix, command };
}

const fixOf = (fix: Fix) => (typeof fix === "string" ? { fix } : fix);

function made(verdict: Verdict, check: string, what: string, about: string | undefined): Report {
  return { check, verdict, ...(about !== undefined && { about }), what };
}

const marks: Readonly<Record<Verdict, string>> = { ok: "✓", finding: "✗", hint: "!", skipped: "-" };

export function printReport({ check, verdict, about, what, fix, command }: Report, paint: Paint): string {
  const colour = { ok: paint.good, finding: paint.bad, hint: paint.warn, skipped: paint.dim }[verdict];
  const where = about === undefined ? "" : `${about}: `;
  const head = `${colour(marks[verdict])} ${check.padEnd(12)} ${withoutControls(where + what)}\n`;
  return head + printBlock("fix:", fix, paint) + printBlock("run:", command, paint);
}

function printBlock(title: string, text: string | undefined, paint: Paint): string {
  if (text === undefined) return "";
  const [first = "", ...rest] = text.split("\n").map(withoutControls);
  // A here-document ends with a line that begins in the first column, so a command of several lines is not indented.
  const indent = title === "run:" ? "" : " ".repeat(9);
  return [`    ${paint.dim(title)} ${first}`, ...rest.map((line) => indent + line)]
    .map((line) => `${line}\n`)
    .join("");
}

export function summary(reports: readonly Report[], where: Advice["where"]): string {
  const count = (verdict: Verdict) => reports.filter((report) => report.verdict === verdict).length;
  const many = (number: number, word: string) => `${number} ${word}${number === 1 ? "" : "s"}`;
  const rest = [
    ...(count("hint") > 0 ? [many(count("hint"), "hint")] : []),
    ...(count("skipped") > 0 ? [`${count("skipped")} skipped`] : []),
  ];
  const found = count("finding") === 0 ? "No problems found" : many(count("finding"), "finding");
  const needsKubectl = reports.some(({ command }) => command?.startsWith("kubectl"));
  const note =
    needsKubectl && where === "pod"
      ? "Run the kubectl commands where you have kubectl and the rights, not in this pod.\n"
      : "";
  return `${note}${[found, ...rest].join(", ")}.\n`;
}
