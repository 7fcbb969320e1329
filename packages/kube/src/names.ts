import { type Problem, quote } from "@tenure/base";

/** What is wrong with the name of an object or of a namespace, if anything is. Names become part of a URL. */
export function nameProblem(field: string, name: unknown): Problem | undefined {
  if (typeof name === "string" && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) return undefined;
  return {
    field,
    rule: "must be 1 to 253 lower case letters, digits, '-' or '.', and begin and end with a letter or a digit",
    value: quote(name),
  };
}
