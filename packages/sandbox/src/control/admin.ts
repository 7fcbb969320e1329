/**
 * The paths that `tenure sandbox faults …` uses. They are beside the Kubernetes API, and only administrators may use
 * them.
 */
import { SandboxError } from "../errors.ts";
import { badRequest, methodNotAllowed } from "../objects/status.ts";
import { readBody } from "../registry/body.ts";
import type { ApiResponse, Context } from "../registry/context.ts";
import type { FaultSpec } from "./fault.ts";
import type { FaultInjector } from "./fault-injector.ts";

export const adminPath = "/tenure/v1/";

export interface AdminActions {
  faults: FaultInjector;
  /** Restarts the server after the response has been sent. */
  restartSoon(): void;
}

/** Returns undefined if there is no such path. */
export async function adminResponse(
  { faults, restartSoon }: AdminActions,
  context: Context,
): Promise<ApiResponse | undefined> {
  const { method, path } = context.request;
  const [what, id, ...rest] = path.slice(adminPath.length).split("/");
  if (rest.length > 0) return undefined;
  const ok = (value: unknown): ApiResponse => ({ type: "object", code: 200, value });
  if (what === "faults" && id === undefined) {
    if (method === "GET") return ok({ faults: faults.list() });
    if (method === "POST") return ok({ id: await addFault(faults, context) });
    if (method === "DELETE") {
      faults.clear();
      return ok({ faults: [] });
    }
  }
  if (what === "faults" && id !== undefined && method === "DELETE") {
    return faults.remove(Number(id)) ? ok({ removed: Number(id) }) : undefined;
  }
  if (what === "compact" && method === "POST") {
    const { store } = context.cluster;
    store.compact();
    return ok({ compactedRevision: store.compactedRevision });
  }
  if (what === "restart" && method === "POST") {
    restartSoon();
    return ok({ restarting: true });
  }
  if (["faults", "compact", "restart"].includes(what as string)) throw methodNotAllowed();
  return undefined;
}

async function addFault(faults: FaultInjector, context: Context): Promise<number> {
  const { value } = await readBody(context, "Fault");
  try {
    return faults.add(value as FaultSpec).id;
  } catch (error) {
    if (error instanceof SandboxError) throw badRequest(error.message);
    throw error;
  }
}
