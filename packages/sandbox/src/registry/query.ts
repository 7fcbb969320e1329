/** Values of query parameters, read as the API server reads them. */
import { quote } from "../objects/quote.ts";
import { ApiError, badRequest } from "../objects/status.ts";

export const isTrue = (value: string | null) =>
  value !== null && value !== "" && value !== "0" && value !== "false";

export function parseInteger(text: string): number {
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  return Number(text);
}

export const invalidVersionMessage = (version: string) =>
  `resourceVersion: Invalid value: ${quote(version)}: strconv.ParseUint: parsing ${quote(version)}: invalid syntax`;

/**
 * Rejects a read at a revision that this store has not reached: its state would be older than what the client has
 * seen.
 */
export function checkNotTooNew(version: string, revision: number): void {
  if (version === "") return;
  if (!/^\d+$/.test(version)) throw badRequest(`invalid resource version: ${invalidVersionMessage(version)}`);
  if (Number(version) <= revision) return;
  throw new ApiError(
    504,
    "Timeout",
    `Timeout: Too large resource version: ${version}, current: ${revision}`,
    {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  );
}
