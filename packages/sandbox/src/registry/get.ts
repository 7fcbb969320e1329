/** GET of one object. */
import { keyOf } from "../objects/kind.ts";
import { notFound } from "../objects/status.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { checkNotTooNew } from "./query.ts";
import { represent } from "./represent.ts";
import { subjectOf } from "./write.ts";

export async function get(context: KindContext): Promise<ApiResponse> {
  const { kind, info, cluster, request } = context;
  checkNotTooNew(request.query.get("resourceVersion") ?? "", cluster.store.revision);
  const found = cluster.store.get(keyOf(kind, info.namespace, info.name));
  if (!found) throw notFound(subjectOf(context, info.name));
  return represent(context, found, 200);
}
