/**
 * The path of every request, as Kubernetes draws it:
 *
 *   authentication → authorization → (admission → validation, for writes) → store
 *
 * The last three are in registry/write.ts, since every kind of write goes through them.
 */

import type { Credentials } from "../access/authenticate.ts";
import { impersonate } from "../access/impersonate.ts";
import type { AdminActions } from "../control/admin.ts";
import type { Cluster } from "../control/cluster.ts";
import type { Faults } from "../control/fault-injector.ts";
import { forbidden, forbiddenPath } from "../objects/status.ts";
import type { Answer, ApiRequest, Context } from "../registry/context.ts";
import { negotiate, type Wanted } from "./negotiate.ts";
import { parseRequestInfo } from "./request-info.ts";
import { route } from "./route.ts";

/** What one server adds to the cluster it serves. */
export interface ServerParts {
  cluster: Cluster;
  faults: Faults;
  admin: AdminActions;
}

/** First two steps: who is it, and may they? Throws if not. */
export function admitRequest(parts: ServerParts, request: ApiRequest, credentials: Credentials): Context {
  const { cluster } = parts;
  const info = parseRequestInfo(request.method, request.path, request.query);
  const asked = cluster.authenticator.authenticate(credentials);
  const user = impersonate(asked, request.headers, cluster.authorizer);
  if (!cluster.authorizer.authorize(user, info).allowed) {
    const why = cluster.authorizer.refusal(user, info);
    throw info.isResource ? forbidden(info, why) : forbiddenPath(why);
  }
  // Discovery has formats of its own, and chooses them itself.
  const wanted: Wanted = info.isResource
    ? negotiate(request.headers.accept)
    : { format: "json", as: "object" };
  return { request, info, user, cluster, wanted, warnings: [] };
}

/** The rest: what was asked for. */
export function answer(parts: ServerParts, context: Context): Promise<Answer> {
  return route(parts, context);
}
