/** What the policy allows is tested on a real kube-apiserver, in test/kube. */
import { expect, it } from "vitest";
import { objectsFor } from "./objects.ts";

const base = { name: "billing", namespace: "prod", image: "x:1", command: ["x"] };
const policies = (options: object) =>
  objectsFor({ ...base, ...options }).filter(({ kind }) => kind.startsWith("Validating"));

it("lets the service account of the replicas change only their lock and the Leases of its candidates", () => {
  const [policy, binding] = policies({ admissionPolicy: true });
  expect(policy?.spec).toMatchObject({
    matchConditions: [{ expression: "request.userInfo.username == 'system:serviceaccount:prod:billing'" }],
    validations: [
      { expression: "request.name == 'billing' || request.name.startsWith('billing.candidate.')" },
    ],
  });
  expect(binding?.spec).toMatchObject({ policyName: policy?.metadata.name, validationActions: ["Deny"] });
});

it("is printed only if asked for, and only if candidates show themselves", () => {
  expect(policies({})).toEqual([]);
  expect(() => policies({ admissionPolicy: true, register: false })).toThrow("--admission-policy requires");
});
