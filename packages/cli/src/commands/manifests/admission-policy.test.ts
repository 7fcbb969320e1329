/** What the policy allows is tested on a real kube-apiserver, in test/kube. */
import { expect, it } from "vitest";
import { objectsFor } from "./objects.ts";
import type { ManifestOptions } from "./options.ts";

const objects = (options: Partial<ManifestOptions>) =>
  objectsFor({
    name: "billing",
    namespace: "prod",
    image: "x:1",
    command: ["x"],
    traffic: "label",
    port: 80,
    ...options,
  }).filter(({ kind }) => kind.startsWith("Validating"));

it("consists of a policy and its binding, which name the namespace because they are in none", () => {
  const [policy, binding] = objects({ admissionPolicy: true });
  expect([policy?.metadata, binding?.metadata]).toEqual([
    { name: "tenure.prod.billing", labels: { "app.kubernetes.io/name": "billing" } },
    { name: "tenure.prod.billing", labels: { "app.kubernetes.io/name": "billing" } },
  ]);
  expect(binding?.spec).toMatchObject({
    policyName: "tenure.prod.billing",
    validationActions: ["Deny"],
    matchResources: { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "prod" } } },
  });
});

it("is in force only for the service account of the replicas", () => {
  const [policy] = objects({ admissionPolicy: true });
  expect(policy?.spec).toMatchObject({
    matchConditions: [{ expression: "request.userInfo.username == 'system:serviceaccount:prod:billing'" }],
  });
});

it("is not printed unless asked for", () => {
  expect(objects({})).toEqual([]);
});

it("is rejected where no right needs to be narrowed", () => {
  expect(() => objects({ admissionPolicy: true, traffic: "endpointslice", register: false })).toThrow(
    "--admission-policy requires --traffic label or --register; leave it out",
  );
});

it("covers pods only where replicas label them", () => {
  const names = (options: Partial<ManifestOptions>) =>
    objects({ admissionPolicy: true, ...options }).map(({ metadata }) => metadata.name);
  expect(names({ register: false })).toEqual(["tenure.prod.billing", "tenure.prod.billing"]);
  expect(names({ traffic: "none" })).toEqual(["tenure.prod.billing.leases", "tenure.prod.billing.leases"]);
});
