/** GET of one object. */
import { keyOf } from "../objects/kind.ts";
import { notFound } from "../objects/status.ts";
import type { Stored } from "../store/types.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { checkNotTooNew } from "./query.ts";
import { represent } from "./represent.ts";
import { subjectOf } from "./write.ts";

export async function get(context: KindContext): Promise<ApiResponse> {
  const { cluster, request } = context;
  const version = request.query.get("resourceVersion") ?? "";
  if (version === "" || Number(version) > cluster.store.revision) await cluster.store.caughtUp();
  checkNotTooNew(version, cluster.store.revision);
  return represent(context, findObject(context), 200);
}

/** Finds the object in the path, or throws. */
export function findObject({ kind, info, cluster }: KindContext): Stored {
  const found = cluster.store.get(keyOf(kind, info.namespace, info.name));
  if (!found) throw notFound(subjectOf({ kind }, info.name));
  return found;
}
