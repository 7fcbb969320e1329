/** What the server takes from its machine. */
import { randomBytes } from "node:crypto";

/** A value that nobody can guess. */
export function secret(): string {
  return randomBytes(24).toString("base64url");
}
