import { expect, it } from "vitest";
import { describeRules, grantManifests, mergeRules, singleRules } from "./rules.ts";

const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
const rules = [
  { ...leases, verbs: ["create"] },
  { ...leases, resourceNames: ["billing"], verbs: ["get", "update"] },
];

it("splits rules into single rights, and merges them again", () => {
  expect(singleRules(rules)).toHaveLength(3);
  expect(mergeRules(singleRules(rules))).toEqual(rules);
  expect(describeRules(rules)).toBe('create leases; get, update leases "billing"');
});

it("writes a Role and its binding for a service account", () => {
  const [role, binding] = grantManifests("system:serviceaccount:prod:billing", "prod", rules);
  expect(role).toMatch(
    /^apiVersion: .*\nkind: Role\nmetadata: \{name: election-[0-9a-f]{16}, namespace: prod\}\nrules:\n {2}- \{.*verbs: \["create"\]\}\n/,
  );
  expect(binding).toContain("subjects: [{kind: ServiceAccount, name: billing, namespace: prod}]");
});

it("names the Role after its rules and its user, so that it replaces no other Role", () => {
  const nameOf = (user: string, given: typeof rules) =>
    /name: (\S+),/.exec(grantManifests(user, "prod", given)[0])?.[1];
  expect(nameOf("anna", rules)).toBe(nameOf("anna", rules));
  expect(nameOf("anna", rules)).not.toBe(nameOf("anna", rules.slice(1)));
  expect(nameOf("anna", rules)).not.toBe(nameOf("bob", rules));
  expect(grantManifests("anna", "prod", rules)[1]).toContain(
    'subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: "anna"}]',
  );
});
