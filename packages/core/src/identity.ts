import { CoreError } from "./errors.ts";

/** As long as the longest pod name; a longer identity is a value that got lost on its way here. */
const longestIdentity = 253;

/** The identity, or an error that says what is wrong with it. It must differ between any two live candidates. */
export function checkIdentity(identity: unknown): string {
  const problem = identityProblem(identity);
  if (problem) throw new CoreError("InvalidIdentity", [problem]);
  return identity as string;
}

function identityProblem(identity: unknown): string | undefined {
  if (identity === undefined || identity === null || identity === "") {
    return "identity must not be empty: set POD_NAME by the downward API (fieldRef metadata.name), or pass identity";
  }
  if (typeof identity !== "string") return `identity must be a string: ${typeof identity}`;
  const quoted = JSON.stringify(identity.length > 40 ? `${identity.slice(0, 40)}…` : identity);
  if (identity.length > longestIdentity) {
    return `identity must have at most ${longestIdentity} characters: ${quoted} has ${identity.length}`;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(identity)) {
    return `identity must not contain line breaks or control characters: ${quoted}`;
  }
  // Half of a pair of code units does not survive the wire: a candidate would not know its own record again.
  if (/\p{Surrogate}/u.test(identity)) return `identity must be well-formed Unicode: ${quoted}`;
  if (identity.trim() !== identity) return `identity must not begin or end with white space: ${quoted}`;
  return undefined;
}
