/** The longest decimal number of 64 bits, which is what Kubernetes, etcd and PostgreSQL count revisions with. */
const digits = 20;

/**
 * A revision as a fencing token: decimal digits with leading zeros. Tokens compare correctly as strings, as numbers and as
 * bigints, and JSON can carry them. See docs/adr/0019-tokens-are-strings.md.
 */
export function formatToken(revision: bigint): string {
  return String(revision).padStart(digits, "0");
}
