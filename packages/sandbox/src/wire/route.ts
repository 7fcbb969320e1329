/** Which handler answers a request. */

import { adminAnswer, adminPath } from "../control/admin.ts";
import { findKind } from "../objects/kinds.ts";
import { isPathSegment } from "../objects/name-rules.ts";
import { quote } from "../objects/quote.ts";
import { groupVersions } from "../objects/resources.ts";
import { badRequest, methodNotAllowed, noSuchResource } from "../objects/status.ts";
import type { Answer, Context, KindContext } from "../registry/context.ts";
import { create } from "../registry/create.ts";
import { remove, removeCollection } from "../registry/delete.ts";
import { get } from "../registry/get.ts";
import { list } from "../registry/list.ts";
import { patch } from "../registry/patch.ts";
import { findReview } from "../registry/reviews.ts";
import { findSubresource } from "../registry/subresources.ts";
import { update } from "../registry/update.ts";
import { watch } from "../registry/watch.ts";
import type { ServerParts } from "./authorize-request.ts";
import { discovery } from "./discovery.ts";

const handlers: Record<string, (context: KindContext) => Promise<Answer>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
};

export async function route(parts: ServerParts, context: Context): Promise<Answer> {
  const { info, request } = context;
  if (!info.isResource) {
    if (request.path.startsWith(adminPath)) return adminAnswer(parts, context);
    const found = await discovery(context);
    if (found) return found;
    return lost(request.path);
  }
  const review = findReview(info);
  if (review) return info.verb === "create" ? review(context) : refuse();
  const kind = findKind(info.group, info.version, info.resource);
  const isNamespace = info.resource === "namespaces" && info.name === info.namespace;
  if (!kind || info.tooLong || (!kind.namespaced && info.namespace && !isNamespace))
    return lost(request.path);
  const [badName] = isCollection(info.verb) ? [] : isPathSegment(info.name);
  if (badName) throw badRequest(`Name parameter invalid: ${quote(info.name)}: ${badName}`);
  const kindContext: KindContext = { ...context, kind };
  if (kind.warning) context.warnings.push(kind.warning);
  if (info.subresource !== "" && !(info.subresource === "status" && kind.status)) {
    const handler = findSubresource(kindContext);
    if (handler === undefined) return lost(request.path);
    return handler === "no such verb" ? refuse() : handler(kindContext);
  }
  if (info.subresource === "status" && !["get", "update", "patch"].includes(info.verb)) refuse();
  const needsName = ["update", "patch"].includes(info.verb);
  const needsNamespace = kind.namespaced && !info.namespace && info.verb !== "list" && info.verb !== "watch";
  const handler = handlers[info.verb];
  if (!handler || (needsName && !info.name) || (info.verb === "create" && info.name) || needsNamespace)
    refuse();
  return (handler as (context: KindContext) => Promise<Answer>)(kindContext);
}

const isCollection = (verb: string) => verb === "list" || verb === "watch" || verb === "deletecollection";

/** Below a part of the API that there is, the API itself says so; elsewhere there is just no page. */
function lost(path: string): Answer {
  const [, root, group] = path.split("/");
  const known =
    root === "api" ||
    root === "version" ||
    (root === "apis" && groupVersions.some((entry) => entry.group === group));
  if (known) throw noSuchResource();
  return pageNotFound;
}

export const pageNotFound: Answer = { type: "text", code: 404, text: "404 page not found\n" };

function refuse(): never {
  throw methodNotAllowed();
}
