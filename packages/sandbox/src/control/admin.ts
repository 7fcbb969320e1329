/**
 * What `tenure sandbox faults …` talks to: paths beside the Kubernetes API, for users who may do everything.
 */

import { SandboxError } from "../errors.ts";
import { badRequest, methodNotAllowed } from "../objects/status.ts";
import { readBody } from "../registry/body.ts";
import type { Answer, Context } from "../registry/context.ts";
import type { ServerParts } from "../wire/authorize-request.ts";
import { pageNotFound } from "../wire/route.ts";
import type { FaultSpec } from "./fault.ts";

export const adminPath = "/tenure/v1/";

export interface AdminActions {
  compact(): void;
  /** Answers first, restarts then. */
  restartSoon(): void;
}

export async function adminAnswer(parts: ServerParts, context: Context): Promise<Answer> {
  const { method, path } = context.request;
  const [what, id, ...rest] = path.slice(adminPath.length).split("/");
  if (rest.length > 0) return pageNotFound;
  const ok = (value: unknown): Answer => ({ type: "object", code: 200, value });
  if (what === "faults" && id === undefined) {
    if (method === "GET") return ok({ faults: parts.faults.list() });
    if (method === "POST") return ok({ id: await addFault(parts, context) });
    if (method === "DELETE") {
      parts.faults.clear();
      return ok({ faults: [] });
    }
  }
  if (what === "faults" && id !== undefined && method === "DELETE") {
    return parts.faults.remove(Number(id)) ? ok({ removed: Number(id) }) : pageNotFound;
  }
  if (what === "compact" && method === "POST") {
    parts.admin.compact();
    return ok({ compactedRevision: parts.cluster.store.compactedRevision });
  }
  if (what === "restart" && method === "POST") {
    parts.admin.restartSoon();
    return ok({ restarting: true });
  }
  if (["faults", "compact", "restart"].includes(what as string)) throw methodNotAllowed();
  return pageNotFound;
}

async function addFault({ faults }: ServerParts, context: Context): Promise<number> {
  const { value } = await readBody(context, "Fault");
  try {
    return faults.add(value as FaultSpec).id;
  } catch (error) {
    if (error instanceof SandboxError) throw badRequest(error.message);
    throw error;
  }
}
