/**
 * Impersonation (`kubectl --as`): a user who has the verb "impersonate" on another user can act as that user. The
 * request is then authorized with the permissions of the impersonated user.
 */
import type { IncomingHttpHeaders } from "node:http";
import { quote } from "../objects/quote.ts";
import { badRequest, forbidden } from "../objects/status.ts";
import { type Authorizer, explainDenial } from "./authorizer.ts";
import { type Attributes, noAttributes } from "./rules.ts";
import { anonymousUser, authenticatedGroup, type User, unauthenticatedGroup } from "./user.ts";

const extraPrefix = "impersonate-extra-";

export function impersonate(user: User, headers: IncomingHttpHeaders, authorizer: Authorizer): User {
  const name = single(headers["impersonate-user"]);
  const groups = list(headers["impersonate-group"]);
  const uid = single(headers["impersonate-uid"]);
  const extras = Object.keys(headers).filter((key) => key.startsWith(extraPrefix));
  if (!name) {
    if (groups.length > 0 || uid || extras.length > 0) {
      const list =
        groups.length > 0 ? `[]string{${groups.map((group) => quote(group)).join(", ")}}` : "[]string(nil)";
      const asked = `&user.DefaultInfo{Name:"", UID:${quote(uid ?? "")}, Groups:${list}, Extra:map[string][]string(nil)}`;
      throw badRequest(`requested ${asked} without impersonating a user name`);
    }
    return user;
  }

  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const wanted: Partial<Attributes>[] = [
    account
      ? { resource: "serviceaccounts", namespace: account[1] as string, name: account[2] as string }
      : { resource: "users", name },
    ...groups.map((group) => ({ resource: "groups", name: group })),
    ...(uid ? [{ group: "authentication.k8s.io", resource: "uids", name: uid }] : []),
    ...extras.flatMap((key) =>
      list(headers[key]).map((value) => ({
        group: "authentication.k8s.io",
        resource: "userextras",
        subresource: extraKey(key),
        name: value,
      })),
    ),
  ];
  for (const attributes of wanted) {
    const full = { ...noAttributes, verb: "impersonate", version: "v1", ...attributes };
    const decision = authorizer.authorize(user, full);
    if (!decision.allowed) throw forbidden(full, explainDenial(user, full));
  }

  const known = new Set(groups);
  if (account && groups.length === 0) {
    known.add("system:serviceaccounts");
    known.add(`system:serviceaccounts:${account[1]}`);
  }
  if (name === anonymousUser.name) known.add(unauthenticatedGroup);
  else known.add(authenticatedGroup);
  const extra = Object.fromEntries(extras.map((key) => [extraKey(key), list(headers[key])]));
  return { name, groups: [...known], ...(uid ? { uid } : {}), ...(extras.length > 0 ? { extra } : {}) };
}

const extraKey = (header: string) => decodeURIComponent(header.slice(extraPrefix.length));
const list = (value: string | string[] | undefined) =>
  value === undefined ? [] : Array.isArray(value) ? value : value.split(", ");
const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);
