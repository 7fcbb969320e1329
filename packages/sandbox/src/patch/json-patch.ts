/** JSON patch, RFC 6902. */
import type { Operation } from "rfc6902";
import { applyPatch } from "rfc6902";
import { ApiError, badRequest } from "../objects/status.ts";

const knownOperations = ["add", "remove", "replace", "move", "copy", "test"];
/** The limit of the API server. */
const maxOperations = 10_000;

export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) {
    throw badRequest(
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    );
  }
  if (patch.length > maxOperations) {
    const why = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`;
    throw new ApiError(413, "RequestEntityTooLarge", why);
  }
  // Wrapped in a root, so that a patch of the whole document (path "") needs no special case.
  const holder = { root: structuredClone(target) };
  for (const operation of patch as Operation[]) {
    if (!applyOperation(holder, operation)) {
      const text = "the server rejected our request due to an error in our request";
      throw new ApiError(422, "Invalid", text, {});
    }
  }
  return holder.root;
}

function applyOperation(holder: { root: unknown }, operation: Operation): boolean {
  const { op, path, from } = (operation ?? {}) as { op?: string; path?: unknown; from?: unknown };
  if (!knownOperations.includes(op ?? "") || typeof path !== "string") return false;
  const below = {
    ...operation,
    path: `/root${path}`,
    ...(typeof from === "string" ? { from: `/root${from}` } : {}),
  };
  try {
    const [error] = applyPatch(holder, [below as Operation]);
    return !error;
  } catch {
    return false;
  }
}
