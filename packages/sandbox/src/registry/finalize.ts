/** PUT of the finalizers in the spec of a namespace. A deleted namespace without finalizers is removed. */
import { keyOf } from "../objects/kind.ts";
import { notFound } from "../objects/status.ts";
import type { Stored } from "../store/types.ts";
import type { ApiResponse, KindContext } from "./context.ts";
import { decodeBody } from "./decode-body.ts";
import { represent } from "./represent.ts";
import { subjectOf } from "./write.ts";
import { parseWriteOptions } from "./write-options.ts";

export async function finalize(context: KindContext): Promise<ApiResponse> {
  const { kind, info, cluster } = context;
  const object = await decodeBody(context, parseWriteOptions(context).fieldValidation);
  const stored = await cluster.store.commit(keyOf(kind, "", info.name), (current) => {
    if (!current) throw notFound(subjectOf(context, info.name));
    const { finalizers = [] } = (object.spec ?? {}) as { finalizers?: string[] };
    const { deletionTimestamp, finalizers: others = [] } = current.value.metadata;
    if (deletionTimestamp && finalizers.length === 0 && others.length === 0) return "delete";
    return { ...current.value, spec: finalizers.length > 0 ? { finalizers } : {} };
  });
  return represent(context, stored as Stored, 200);
}
