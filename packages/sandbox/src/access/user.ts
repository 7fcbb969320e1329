/** The user who sends a request. */

export interface User {
  name: string;
  uid?: string;
  groups: string[];
  extra?: Record<string, string[]>;
}

export const authenticatedGroup = "system:authenticated";
export const unauthenticatedGroup = "system:unauthenticated";
export const anonymousUser: User = { name: "system:anonymous", groups: [unauthenticatedGroup] };
/** A request without credentials to a sandbox that allows everything without credentials. */
export const anonymousAdmin: User = {
  name: "system:anonymous",
  groups: ["system:masters", unauthenticatedGroup],
};
export const adminUser: User = { name: "kubernetes-admin", groups: ["system:masters", authenticatedGroup] };

export function serviceAccountUser(namespace: string, name: string, uid: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, authenticatedGroup],
  };
}
