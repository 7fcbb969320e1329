import { type Checked, type Problem, quote } from "@tenure/base";

/** The length of the longest pod name. A longer identity is some other value that was passed by mistake. */
const longestIdentity = 253;

/** The identity, or what is wrong with it. Every two live candidates must have different identities. */
export function checkIdentity(identity: unknown): Checked<string> {
  const problem = identityProblem(identity);
  return problem
    ? { value: undefined, problems: [{ field: "identity", ...problem }] }
    : { value: identity as string, problems: [] };
}

/**
 * The identity of a process that has no name of its own: outside of Kubernetes no pod name is at hand. The random part tells
 * apart two processes with the same host name, such as two containers on the network of their host.
 * @param random a number in [0, 1)
 */
export function uniqueIdentity(hostName: string, random: number): string {
  const suffix = Math.floor(random * 2 ** 32)
    .toString(16)
    .padStart(8, "0");
  return `${hostName.trim() || "localhost"}-${suffix}`;
}

function identityProblem(identity: unknown): Omit<Problem, "field"> | undefined {
  if (identity === undefined || identity === null || identity === "") {
    return {
      rule: "must not be empty",
      fix: "set POD_NAME with the downward API (fieldRef metadata.name), or pass {identity}",
    };
  }
  if (typeof identity !== "string")
    return { rule: "must be a string", value: `a value of type ${typeof identity}` };
  const value = quote(identity);
  if (identity.length > longestIdentity) {
    return {
      rule: `must have at most ${longestIdentity} characters`,
      value: `${value} with ${identity.length} characters`,
    };
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check looks for control characters
  if (/[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(identity)) {
    return { rule: "must not contain line breaks or control characters", value };
  }
  // A lone surrogate changes on its way through JSON, and the candidate would not recognise its own record.
  if (/\p{Surrogate}/u.test(identity)) return { rule: "must be well-formed Unicode", value };
  if (identity.trim() !== identity) return { rule: "must not begin or end with white space", value };
  return undefined;
}
