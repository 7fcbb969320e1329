/** Everything that is wrong with a command line is reported at once, with the names that the user typed. */
import { describeProblems, type Problem } from "@tenure/base";
import { CliError } from "../errors.ts";

/** What a setting is called: `leaseDuration` is `--lease-duration`. */
export type NameOf = (field: string) => string;

/** The flag of a setting. A name that is not one word, such as `NAME` or `tenure.yaml: id`, stays as it is. */
export const flagOf: NameOf = (field) =>
  /^[a-z][A-Za-z]*$/.test(field)
    ? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    : field;

/** Throws if there is any problem. @param cannot what fails because of it: "start" */
export function rejectProblems(
  problems: readonly Problem[],
  { nameOf = flagOf, cannot = "start" }: { readonly nameOf?: NameOf; readonly cannot?: string } = {},
): void {
  const sentences = describeProblems(problems, nameOf);
  if (sentences.length === 0) return;
  if (sentences.length === 1) throw new CliError("Usage", sentences[0] as string);
  const list = sentences.map((sentence) => `\n  - ${sentence}`).join("");
  throw new CliError("Usage", `Cannot ${cannot}, there are ${sentences.length} problems:${list}`);
}

/** The problem that two settings were given of which only one may be. */
export function exclusive(field: string, other: string): Problem {
  return { field, rule: `cannot be combined with {${other}}`, fix: "leave one of them out" };
}
