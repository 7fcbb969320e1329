import { election, pathOf } from "../healthy.ts";
import { type Fault, onClientGo } from "./fault.ts";

/** The rights of the candidates, and the account that has them. */
export const rightsFaults: readonly Fault[] = [
  {
    name: "A verb is missing in the Role of a workload on tenure",
    plant: (world) => {
      Object.assign(world.rules[1] as object, { verbs: ["get", "watch"] });
    },
    check: "rights",
    what: /^ServiceAccount doctor-\d+-\d+\/billing may not update leases "billing" in namespace/,
    fix: /rules:\n {2}- \{apiGroups: \["coordination\.k8s\.io"\], resources: \["leases"\], resourceNames: \["billing"\], verbs: \["update"\]\}\nkubectl apply -f - /,
  },
  {
    name: "A verb is missing in the Role of a workload on client-go",
    plant: (world) => {
      onClientGo(world);
      Object.assign(world.rules[1] as object, { verbs: ["get"] });
    },
    check: "rights",
    what: /^ServiceAccount doctor-\d+-\d+\/billing may not update leases "billing" in namespace/,
    fix: /subjects: \[\{kind: ServiceAccount, name: billing, namespace: doctor-\d+-\d+\}\]/,
  },
  {
    name: "A right that a flag needs is missing",
    plant: (world) => {
      world.rules.pop();
    },
    check: "rights",
    what: /may not get, list, patch pods/,
    fix: /\{apiGroups: \[""\], resources: \["pods"\], verbs: \["get", "list", "patch"\]\}$/m,
  },
  {
    name: "The account of `--as` lacks rights",
    flags: ({ namespace }) => ["--as", `system:serviceaccount:${namespace}:default`],
    check: "rights",
    what: /may not create leases; get, update, watch leases "billing"/,
    fix: /name: default, namespace: doctor-\d+-\d+/,
  },
  {
    name: "The ServiceAccount does not exist",
    after: async ({ cluster, namespace }) => {
      const path = `${pathOf("ServiceAccount", namespace)}/${election}`;
      await cluster.client.request({ method: "DELETE", path });
      return undefined;
    },
    check: "account",
    what: /^ServiceAccount billing of Deployment billing does not exist, so no pod can be created$/,
    fix: /^kubectl create serviceaccount billing -n doctor-\d+-\d+/m,
  },
  {
    name: "The token of the ServiceAccount is not mounted",
    plant: (world) => {
      world.deployment.spec.template.spec.automountServiceAccountToken = false;
    },
    check: "account",
    what: /^the pods of Deployment billing have no token: automountServiceAccountToken is false/,
    fix: /"automountServiceAccountToken":true/,
  },
];
