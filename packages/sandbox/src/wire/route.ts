/** Finds the handler for an authorized request. */
import { type AdminActions, adminPath, adminResponse } from "../control/admin.ts";
import { findKind } from "../objects/kinds.ts";
import { isPathSegment } from "../objects/name-rules.ts";
import { quote } from "../objects/quote.ts";
import { groupVersions } from "../objects/resources.ts";
import { badRequest, methodNotAllowed, noSuchResource } from "../objects/status.ts";
import type { ApiResponse, Context, KindContext } from "../registry/context.ts";
import { create } from "../registry/create.ts";
import { deleteCollection, deleteOne } from "../registry/delete.ts";
import { get } from "../registry/get.ts";
import { list } from "../registry/list.ts";
import { patch } from "../registry/patch.ts";
import { findReview } from "../registry/reviews.ts";
import { findSubresource } from "../registry/subresources.ts";
import { update } from "../registry/update.ts";
import { watch } from "../registry/watch.ts";
import { discovery } from "./discovery.ts";

const handlers: Record<string, (context: KindContext) => Promise<ApiResponse>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

export async function route(actions: AdminActions, context: Context): Promise<ApiResponse> {
  const { info, request } = context;
  if (!info.isResource) {
    const found = request.path.startsWith(adminPath)
      ? await adminResponse(actions, context)
      : await discovery(context);
    return found ?? unknownPath(request.path);
  }
  const review = findReview(info);
  if (review) return info.verb === "create" ? review(context) : rejectMethod();
  const kind = findKind(info.group, info.version, info.resource);
  const isNamespace = info.resource === "namespaces" && info.name === info.namespace;
  if (!kind || info.tooLong || (!kind.namespaced && info.namespace && !isNamespace))
    return unknownPath(request.path);
  const [badName] = isCollection(info.verb) ? [] : isPathSegment(info.name);
  if (badName) throw badRequest(`Name parameter invalid: ${quote(info.name)}: ${badName}`);
  const { user, responseForm, cluster, warnings } = context;
  const kindContext: KindContext = { request, info, user, responseForm, cluster, warnings, kind };
  if (kind.warning) warnings.push(kind.warning);
  if (info.subresource !== "" && !(info.subresource === "status" && kind.status)) {
    const handler = findSubresource(kindContext);
    if (handler === undefined) return unknownPath(request.path);
    return handler === "no such verb" ? rejectMethod() : handler(kindContext);
  }
  if (info.subresource === "status" && !["get", "update", "patch"].includes(info.verb)) rejectMethod();
  const needsName = ["update", "patch"].includes(info.verb);
  const needsNamespace = kind.namespaced && !info.namespace && info.verb !== "list" && info.verb !== "watch";
  const handler = handlers[info.verb];
  if (!handler || (needsName && !info.name) || (info.verb === "create" && info.name) || needsNamespace)
    rejectMethod();
  return (handler as (context: KindContext) => Promise<ApiResponse>)(kindContext);
}

const isCollection = (verb: string) => verb === "list" || verb === "watch" || verb === "deletecollection";

/** Below a known part of the API the response is a Status. Elsewhere it is plain text. */
function unknownPath(path: string): ApiResponse {
  const [, root, group] = path.split("/");
  const known =
    root === "api" ||
    root === "version" ||
    (root === "apis" && groupVersions.some((entry) => entry.group === group));
  if (known) throw noSuchResource();
  return { type: "text", code: 404, text: "404 page not found\n" };
}

function rejectMethod(): never {
  throw methodNotAllowed();
}
