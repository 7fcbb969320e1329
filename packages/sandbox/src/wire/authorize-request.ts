/** Authenticates and authorizes a request: who sends it, and may they? */
import type { Credentials } from "../access/authenticate.ts";
import { explainDenial } from "../access/authorizer.ts";
import { impersonate } from "../access/impersonate.ts";
import { anonymousAdmin, anonymousUser } from "../access/user.ts";
import type { RunningCluster } from "../control/cluster.ts";
import { forbidden, forbiddenPath } from "../objects/status.ts";
import type { ApiRequest, Context, ResponseForm } from "../registry/context.ts";
import { findReview } from "../registry/reviews.ts";
import { checkBrowserRequest } from "./browser-guard.ts";
import { negotiate } from "./negotiate.ts";
import { parseRequestInfo } from "./request-info.ts";

/** Discovery chooses its own formats, and so do pods. */
const ownForm: ResponseForm = { format: "json", as: "object" };

/** `openNames` are the names of a server that allows everything without credentials. Undefined for other servers. */
export function authorizeRequest(
  cluster: RunningCluster,
  request: ApiRequest,
  credentials: Credentials,
  openNames: Set<string> | undefined,
): Context {
  const info = parseRequestInfo(request.method, request.path, request.query);
  const authenticated = cluster.authenticator.authenticate(credentials);
  const isOpen = openNames !== undefined && authenticated === anonymousUser;
  if (isOpen) checkBrowserRequest(request.headers, openNames);
  const sender = isOpen ? anonymousAdmin : authenticated;
  const user = impersonate(sender, request.headers, cluster.authorizer);
  if (!cluster.authorizer.authorize(user, info).allowed) {
    const why = explainDenial(user, info);
    throw info.isResource ? forbidden(info, why) : forbiddenPath(why);
  }
  // What a pod answers through the proxy is its own matter.
  const responseForm =
    info.isResource && info.subresource !== "proxy"
      ? negotiate(request.headers.accept, findReview(info) === undefined)
      : ownForm;
  return { request, info, user, cluster, responseForm, warnings: [] };
}
