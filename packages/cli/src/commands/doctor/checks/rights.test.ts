import { KubeError } from "@tenure/kube";
import { expect, it } from "vitest";
import type { LockClient } from "../../../elections/find.ts";
import { factsWith } from "../../../testing/doctor-facts.ts";
import { selfSubject, subjectOf } from "../access-review.ts";
import { lockRules } from "../participants.ts";
import { checkRights, lockDenied, surroundingsDenied } from "./rights.ts";

const { advice } = factsWith();
const anna = selfSubject("anna");
const account = subjectOf("system:serviceaccount:prod:billing");

/** A server that allows these verbs. */
const allowing = (...verbs: string[]) =>
  ({
    request: async ({ body }: { body: { spec: { resourceAttributes: { verb: string } } } }) => ({
      status: { allowed: verbs.includes(body.spec.resourceAttributes.verb) },
    }),
  }) as unknown as LockClient;

it("finds a missing right of a workload, with a command that grants it", async () => {
  const report = await checkRights(
    allowing("create", "get", "watch"),
    account,
    lockRules("lease", "billing"),
    advice,
  );
  expect(report.what).toBe('ServiceAccount prod/billing may not update leases "billing" in namespace "prod"');
  expect(report.command).toMatch(/^kubectl apply -f - -n prod <<'EOF'\napiVersion: rbac.*\nkind: Role\n/);
});

it("asks for an administrator if the user of the doctor lacks rights, because a command of theirs would fail", async () => {
  const report = await checkRights(allowing(), anna, lockRules("lease", "billing"), advice);
  expect(report.fix).toMatch(/^ask an administrator of namespace prod to apply this:\napiVersion: /);
  expect(report.fix).toContain('name: "anna"');
  expect(report.command).toBeUndefined();
});

it("names the rule, but no manifest, if the server does not tell who the user is", async () => {
  const report = await checkRights(allowing(), selfSubject(), lockRules("lease", "billing"), advice);
  expect(report.fix).toMatch(/^add this to a Role in namespace prod that is bound to this user:\nrules:\n/);
});

it("is skipped if the user may not ask for the rights of others", async () => {
  const request = async () => {
    throw new KubeError("Forbidden", "no");
  };
  const client = { request } as unknown as LockClient;
  const report = await checkRights(client, account, lockRules("lease", "billing"), advice);
  expect(report).toMatchObject({
    verdict: "skipped",
    what: "you may not ask for the rights of ServiceAccount prod/billing",
  });
});

it.each([
  [
    "billing",
    'you may not get leases "billing" in namespace "prod", so whether the election exists and who leads is unknown',
  ],
  [undefined, 'you may not list leases in namespace "prod", so which elections exist is unknown'],
])("a lock that the user may not read is not a missing one: %s", (name, what) => {
  expect(lockDenied("lease", name, anna, advice)).toMatchObject({
    check: "access",
    verdict: "finding",
    what,
  });
});

it("says what was skipped, why, and which rule helps", () => {
  const report = surroundingsDenied({ apiGroup: "apps", plural: "deployments" }, anna, advice);
  expect(report).toMatchObject({
    verdict: "skipped",
    what: 'you may not list deployments in namespace "prod", so Deployments were not checked',
  });
  expect(report.fix).toBe(
    'add this to a Role in namespace prod that is bound to anna:\nrules:\n  - {apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]}',
  );
});
