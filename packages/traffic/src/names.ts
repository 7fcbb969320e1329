/** What this package writes on objects of the cluster, in one place. */
import { createHash } from "node:crypto";

/** `leader` or `standby`. */
export const roleLabel = "tenure.dev/role";
/** The name of the election, so that two of them in one namespace leave each other alone. */
export const electionLabel = "tenure.dev/election";
/** The fencing token of the last term that wrote here: an earlier one must not any more. */
export const tokenAnnotation = "tenure.dev/token";
/** When it was written. It differs in every write, so that each one outdates those that are still under way. */
export const sinceAnnotation = "tenure.dev/since";

export const managedBy = "tenure.dev";

const longestLabel = 63;
const hashDigits = 8;

/** An election's name as a label value: a lock's name may be longer than a label may. */
export function electionLabelValue(name: string): string {
  if (name.length <= longestLabel) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashDigits);
  return `${name.slice(0, longestLabel - hashDigits - 1).replace(/[-.]+$/, "")}-${hash}`;
}

/** These go into a URL, so what the API server would refuse is refused before it is asked. */
export function nameProblem(what: string, value: unknown): string | undefined {
  if (typeof value === "string" && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value)) return undefined;
  return `${what} must be lower case letters, digits, '-' and '.', at most 253 of them: ${JSON.stringify(value)}`;
}
