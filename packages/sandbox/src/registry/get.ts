/** GET of one object. */
import type { Answer, KindContext } from "../api/context.ts";
import { notFound } from "../api/status.ts";
import { keyOf } from "../kinds/kind.ts";
import { checkNotTooNew } from "./list.ts";
import { represent } from "./represent.ts";
import { subjectOf } from "./write.ts";

export async function get(context: KindContext): Promise<Answer> {
  const { kind, info, cluster, request } = context;
  checkNotTooNew(cluster.store, request.query.get("resourceVersion") ?? "");
  const found = cluster.store.get(keyOf(kind, info.namespace, info.name));
  if (!found) throw notFound(subjectOf(context, info.name));
  return represent(context, found, 200);
}
