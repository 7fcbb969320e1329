import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Body, connect, lease, leasesIn, type Target } from "./target.ts";

let target: Target;
let namespace: string;
let leases: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  namespace = await target.namespace();
  leases = leasesIn(namespace);
});

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const joe = { as: "joe" };

/** Grants a role and waits until it takes effect: kube-apiserver learns of roles through watches. */
async function grant(rules: Body[], subjects: Body[], probe: { verb: string; name?: string }): Promise<void> {
  await target.request("POST", `${RBAC}/namespaces/${namespace}/roles`, { metadata: { name: "r" }, rules });
  const binding = {
    metadata: { name: "r" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
    subjects,
  };
  await target.request("POST", `${RBAC}/namespaces/${namespace}/rolebindings`, binding);
  const [{ kind, name }] = subjects as [Body];
  const user = kind === "ServiceAccount" ? `system:serviceaccount:${namespace}:${name}` : name;
  for (let attempt = 0; attempt < 200; attempt++) {
    if ((await review(user, probe)).allowed) return;
  }
  throw new Error("the grant did not take effect");
}

async function review(user: string, { verb, name = "" }: { verb: string; name?: string }): Promise<Body> {
  const resourceAttributes = { verb, group: "coordination.k8s.io", resource: "leases", namespace, name };
  const spec = { user, resourceAttributes };
  const { body } = await target.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
    spec,
  });
  return body.status;
}

const leaseRule = (verbs: string[], resourceNames?: string[]) => ({
  apiGroups: ["coordination.k8s.io"],
  resources: ["leases"],
  verbs,
  ...(resourceNames ? { resourceNames } : {}),
});

test("the error for a user without a role names the missing permission", async () => {
  const { status, body } = await target.request("GET", `${leases}/a`, undefined, joe);
  expect(status).toBe(403);
  expect(body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `leases.coordination.k8s.io "a" is forbidden: User "joe" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "${namespace}"`,
    reason: "Forbidden",
    details: { name: "a", group: "coordination.k8s.io", kind: "leases" },
    code: 403,
  });
  const cluster = await target.request("GET", "/api/v1/namespaces", undefined, joe);
  expect(cluster.body.message).toBe(
    'namespaces is forbidden: User "joe" cannot list resource "namespaces" in API group "" at the cluster scope',
  );
});

test("a role allows its verbs on its resources in its namespace, and nothing else", async () => {
  await grant(
    [leaseRule(["create", "get"])],
    [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }],
    { verb: "get" },
  );
  expect((await target.request("POST", leases, lease("a"), joe)).status).toBe(201);
  expect((await target.request("GET", `${leases}/a`, undefined, joe)).status).toBe(200);
  expect((await target.request("DELETE", `${leases}/a`, undefined, joe)).status).toBe(403);
  expect((await target.request("GET", leases, undefined, joe)).status).toBe(403);
  const elsewhere = leasesIn(await target.namespace());
  expect((await target.request("POST", elsewhere, lease("a"), joe)).status).toBe(403);
});

test("a rule with resourceNames covers those names, and lists and watches of a single one of them", async () => {
  const rules = [leaseRule(["get", "list", "watch"], ["one"]), leaseRule(["create"])];
  await grant(rules, [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }], {
    verb: "create",
  });
  await target.request("POST", leases, lease("one"), joe);
  await target.request("POST", leases, lease("two"), joe);
  expect((await target.request("GET", `${leases}/one`, undefined, joe)).status).toBe(200);
  expect((await target.request("GET", `${leases}/two`, undefined, joe)).status).toBe(403);
  expect((await target.request("GET", leases, undefined, joe)).status).toBe(403);
  expect(
    (await target.request("GET", `${leases}?fieldSelector=metadata.name%3Done`, undefined, joe)).status,
  ).toBe(200);
  const watch = await target.watch(`${leases}?watch=1&fieldSelector=metadata.name%3Done`, joe);
  expect((await watch.next()).object.metadata.name).toBe("one");
  watch.close();
});

test("a ServiceAccount token has the permissions of its roles", async () => {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await target.request("POST", accounts, { metadata: { name: "candidate" } });
  const asked = await target.request("POST", `${accounts}/candidate/token`, {
    spec: { expirationSeconds: 3600 },
  });
  expect(asked.status).toBe(201);
  expect(asked.body).toMatchObject({ kind: "TokenRequest", spec: { expirationSeconds: 3600 } });
  const { token } = asked.body.status;
  const before = await target.request("GET", `${leases}/a`, undefined, { token });
  expect(before.status).toBe(403);
  expect(before.body.message).toContain(
    `User "system:serviceaccount:${namespace}:candidate" cannot get resource "leases"`,
  );
  await grant(
    [leaseRule(["create", "get", "update"])],
    [{ kind: "ServiceAccount", name: "candidate", namespace }],
    { verb: "get" },
  );
  expect((await target.request("POST", leases, lease("a"), { token })).status).toBe(201);
});

test("a token identifies its ServiceAccount", async () => {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await target.request("POST", accounts, { metadata: { name: "who" } });
  const { token } = (await target.request("POST", `${accounts}/who/token`, {})).body.status;
  const { body } = await target.request(
    "POST",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    {},
    { token },
  );
  expect(body.status.userInfo).toMatchObject({
    username: `system:serviceaccount:${namespace}:who`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  });
  const review = await target.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
    spec: { token },
  });
  expect(review.body.status).toMatchObject({
    authenticated: true,
    user: { username: `system:serviceaccount:${namespace}:who` },
  });
});

test("a token for less than ten minutes is rejected", async () => {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await target.request("POST", accounts, { metadata: { name: "brief" } });
  const { status, body } = await target.request("POST", `${accounts}/brief/token`, {
    spec: { expirationSeconds: 5 },
  });
  expect(status).toBe(422);
  expect(body.message).toContain(
    "spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes",
  );
});

test("a wrong token gets 401, and a request without a token is forbidden", async () => {
  const wrong = await target.request("GET", leases, undefined, { token: "wrong" });
  expect(wrong.status).toBe(401);
  expect(wrong.body).toMatchObject({ reason: "Unauthorized", message: "Unauthorized", code: 401 });
  const none = await target.request("GET", leases, undefined, { token: "" });
  expect(none.status).toBe(403);
  expect(none.body.message).toContain('User "system:anonymous" cannot list resource "leases"');
});

test("can-i answers for the user and for others, with the reason", async () => {
  await grant(
    [leaseRule(["get"], ["one"])],
    [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }],
    { verb: "get", name: "one" },
  );
  const spec = {
    resourceAttributes: {
      verb: "get",
      group: "coordination.k8s.io",
      resource: "leases",
      namespace,
      name: "one",
    },
  };
  const self = await target.request(
    "POST",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    { spec },
    joe,
  );
  expect(self.status).toBe(201);
  expect(self.body.status).toEqual({
    allowed: true,
    reason: `RBAC: allowed by RoleBinding "r/${namespace}" of Role "r" to User "joe"`,
  });
  expect((await review("joe", { verb: "get" })).allowed).toBe(false);
  expect((await review("joe", { verb: "update", name: "one" })).allowed).toBe(false);
});

test("a user can list their rules in a namespace", async () => {
  await grant([leaseRule(["get"])], [{ kind: "User", name: "joe", apiGroup: "rbac.authorization.k8s.io" }], {
    verb: "get",
  });
  const { body } = await target.request(
    "POST",
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
    { spec: { namespace } },
    joe,
  );
  expect(body.status.incomplete).toBe(false);
  expect(body.status.resourceRules).toContainEqual({
    verbs: ["get"],
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
  });
});

test("users cannot grant permissions that they do not hold", async () => {
  const rules = [
    { apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles"], verbs: ["create"] },
    leaseRule(["get"]),
  ];
  await grant(rules, [{ kind: "User", name: "jim", apiGroup: "rbac.authorization.k8s.io" }], { verb: "get" });
  const roles = `${RBAC}/namespaces/${namespace}/roles`;
  const jim = { as: "jim" };
  const more = { metadata: { name: "more" }, rules: [leaseRule(["get", "update"])] };
  const { status, body } = await target.request("POST", roles, more, jim);
  expect(status).toBe(403);
  expect(body.message).toContain(
    'user "jim" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:["coordination.k8s.io"], Resources:["leases"], Verbs:["update"]}',
  );
  const same = { metadata: { name: "same" }, rules: [leaseRule(["get"])] };
  expect((await target.request("POST", roles, same, jim)).status).toBe(201);
});

test("an administrator can bind a role that does not exist, other users cannot", async () => {
  const group = "rbac.authorization.k8s.io";
  const rules = [{ apiGroups: [group], resources: ["rolebindings"], verbs: ["create"] }, leaseRule(["get"])];
  await grant(rules, [{ kind: "User", name: "jill", apiGroup: group }], { verb: "get" });
  const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
  for (const [kind, resource] of [
    ["Role", "roles"],
    ["ClusterRole", "clusterroles"],
  ]) {
    const binding = {
      metadata: { name: `early-${resource}` },
      roleRef: { apiGroup: group, kind, name: "not-yet" },
      subjects: [{ kind: "User", name: "jill", apiGroup: group }],
    };
    const { status, body } = await target.request("POST", bindings, binding, { as: "jill" });
    expect(status).toBe(404);
    expect(body.message).toBe(`rolebindings.${group} "not-yet" not found`);
    expect((await target.request("POST", bindings, binding)).status).toBe(201);
  }
});

test("roles and bindings are validated", async () => {
  const roles = `${RBAC}/namespaces/${namespace}/roles`;
  const role = await target.request("POST", roles, {
    metadata: { name: "bad" },
    rules: [{ apiGroups: [""], resources: ["pods"] }],
  });
  expect(role.status).toBe(422);
  expect(role.body.message).toContain(
    "rules[0].verbs: Required value: verbs must contain at least one value",
  );
  const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
  const binding = await target.request("POST", bindings, {
    metadata: { name: "bad" },
    roleRef: { kind: "Foo", name: "r" },
  });
  expect(binding.status).toBe(422);
  expect(binding.body.message).toContain(
    'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
  );
});
