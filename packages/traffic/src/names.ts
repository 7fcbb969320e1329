/** The labels and annotations that this package writes, and the rules for names. */
import { createHash } from "node:crypto";
import { describeProblems, type Problem, quote } from "@tenure/base";
import { TrafficError } from "./errors.ts";

/** Its value is `leader` or `standby`. */
export const roleLabel = "tenure.dev/role";
/** The name of the election. It keeps two elections in one namespace apart. */
export const electionLabel = "tenure.dev/election";
/** The fencing token of the last term that wrote the object. An earlier term must not write it any more. */
export const tokenAnnotation = "tenure.dev/token";
/** The time of the write. It makes every write change the object, so that a write still in flight conflicts with it. */
export const sinceAnnotation = "tenure.dev/since";

export const managedBy = "tenure.dev";

const longestLabel = 63;
const hashDigits = 8;

/** The name of an election as a label value. A lock's name can be longer than a label allows. */
export function electionLabelValue(name: string): string {
  if (name.length <= longestLabel) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashDigits);
  return `${name.slice(0, longestLabel - hashDigits - 1).replace(/[-.]+$/, "")}-${hash}`;
}

/** Names become part of a URL, so an invalid name is rejected before any request is sent. */
export function nameProblem(field: string, value: unknown): Problem | undefined {
  if (typeof value === "string" && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value)) return undefined;
  return {
    field,
    rule: "must be at most 253 lower-case letters, digits, '-' and '.'",
    value: quote(value),
  };
}

/** Throws an error that names every problem. @param action what cannot be done: "label the pod" */
export function rejectProblems(action: string, found: readonly (Problem | undefined)[]): void {
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length === 0) return;
  throw new TrafficError("InvalidOptions", `Cannot ${action}: ${describeProblems(problems).join("; ")}.`);
}
