import { expect, it } from "vitest";
import { deploymentOf, factsWith } from "../../../testing/doctor-facts.ts";
import { checkAccount } from "./account.ts";

const account = { metadata: { name: "billing" } };
const check = (pod: object, accounts: object[] | undefined = [account], container = {}) =>
  checkAccount(
    deploymentOf([container], { pod: { serviceAccountName: "billing", ...pod } }),
    factsWith({ accounts: accounts as (typeof account)[] }),
  );

it("finds a missing ServiceAccount, with the command that creates it", () => {
  const [report] = check({}, []);
  expect(report).toMatchObject({
    check: "account",
    verdict: "finding",
    command: "kubectl create serviceaccount billing -n prod",
  });
});

it.each([
  ["in the pod", check({ automountServiceAccountToken: false })],
  ["in the ServiceAccount", check({}, [{ ...account, automountServiceAccountToken: false }])],
])("finds that the token is not mounted, %s", (_where, reports) => {
  expect(reports).toMatchObject([{ check: "account", verdict: "finding" }]);
});

const projected = { volumes: [{ projected: { sources: [{ serviceAccountToken: {} }] } }] };
it.each([
  ["everything is there", check({})],
  ["Kubernetes creates the account", check({ serviceAccountName: "default" }, [])],
  ["the token is in a volume", check({ automountServiceAccountToken: false, ...projected })],
  [
    "the pod overrides the account",
    check({ automountServiceAccountToken: true }, [{ ...account, automountServiceAccountToken: false }]),
  ],
  [
    "it has a kubeconfig",
    check({ automountServiceAccountToken: false }, [], { args: ["--kubeconfig=/etc/k"] }),
  ],
])("finds nothing if %s", (_why, reports) => expect(reports).toEqual([]));

it("does not guess if the user may not list them", () => {
  const unknown = factsWith({ accounts: undefined });
  expect(checkAccount(deploymentOf([{}], { pod: { serviceAccountName: "x" } }), unknown)).toEqual([]);
});
