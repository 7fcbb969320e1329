/** The objects that a list, a watch or the deletion of a collection selects. */
import { parseFieldSelector } from "../objects/field-selector.ts";
import { keyOf, prefixOf } from "../objects/kind.ts";
import { parseLabelSelector } from "../objects/label-selector.ts";
import type { ApiObject } from "../objects/object.ts";
import { badRequest } from "../objects/status.ts";
import type { KindContext } from "./context.ts";

export interface Selection {
  /** Prefix of the keys. It is a whole key if only one name can match. */
  prefix: string;
  matches(object: ApiObject): boolean;
}

export function parseSelection({ kind, info, request }: KindContext): Selection {
  const labels = parseLabelSelector(request.query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(request.query.get("fieldSelector") ?? "", kind);
  const everything = !request.query.get("labelSelector") && !request.query.get("fieldSelector");
  const name = info.name || fields.name;
  if (info.name && fields.name && info.name !== fields.name) {
    throw badRequest(`fieldSelector metadata.name doesn't match requested name`);
  }
  const one = name && (info.namespace || !kind.namespaced);
  const prefix = one ? keyOf(kind, info.namespace, name) : prefixOf(kind, info.namespace);
  return {
    prefix,
    matches(object) {
      if (one && object.metadata.name !== name) return false;
      return everything || (fields.test(object) && labels(object.metadata.labels ?? {}));
    },
  };
}
