/** The labels and annotations that this package writes, and the rules for names. */
import { createHash } from "node:crypto";

/** Its value is `leader` or `standby`. */
export const roleLabel = "tenure.dev/role";
/** The name of the election. It keeps two elections in one namespace apart. */
export const electionLabel = "tenure.dev/election";
/** The fencing token of the last term that wrote the object. An earlier term must not write it any more. */
export const tokenAnnotation = "tenure.dev/token";
/** The time of the write. It makes every write change the object, so that a write still in flight conflicts with it. */
export const sinceAnnotation = "tenure.dev/since";

/** Everything that the gate for pod labels writes on a pod. */
export const podLabelKeys = {
  role: roleLabel,
  election: electionLabel,
  annotations: [tokenAnnotation, sinceAnnotation],
} as const;

export const managedBy = "tenure.dev";

const longestLabel = 63;
const hashDigits = 8;

/** The name of an election as a label value. A lock's name can be longer than a label allows. */
export function electionLabelValue(name: string): string {
  if (name.length <= longestLabel) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, hashDigits);
  return `${name.slice(0, longestLabel - hashDigits - 1).replace(/[-.]+$/, "")}-${hash}`;
}
