/** Checks that the pods of a workload can get credentials: their service account and its token. Pure. */
import type { Facts } from "../facts.ts";
import { candidatesOf, hasOwnCredentials } from "../flags.ts";
import { finding, fixWith, type Report } from "../report.ts";
import { nameOf, type Workload } from "../workload.ts";
import { patchCommand } from "../workload-commands.ts";

export function checkAccount(
  workload: Workload,
  { election = "", snapshot, about, advice }: Facts,
): Report[] {
  // The kubelet starts a static pod, with credentials from its node.
  if (workload.kind === "Pod" && workload.metadata.ownerReferences?.length) return [];
  if (candidatesOf(workload, election).some(hasOwnCredentials)) return [];
  const {
    serviceAccountName = "default",
    automountServiceAccountToken,
    volumes = [],
  } = workload.spec.template.spec;
  const account = snapshot.accounts?.find(({ metadata }) => metadata.name === serviceAccountName);
  // Kubernetes creates "default" itself, soon after the namespace.
  if (snapshot.accounts !== undefined && account === undefined && serviceAccountName !== "default") {
    return [
      finding(
        "account",
        `ServiceAccount ${serviceAccountName} of ${nameOf(workload)} does not exist, so no pod can be created`,
        {
          fix: "create it, or correct serviceAccountName",
          command: advice.kubectl(`create serviceaccount ${serviceAccountName}`),
        },
        about,
      ),
    ];
  }
  const isMounted = automountServiceAccountToken ?? account?.automountServiceAccountToken ?? true;
  const hasProjected = volumes.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  );
  if (isMounted || hasProjected) return [];
  return [
    finding(
      "account",
      `the pods of ${nameOf(workload)} have no token: automountServiceAccountToken is false, so no candidate can reach the API server`,
      fixWith(
        "set automountServiceAccountToken: true in the pod template, or mount a projected token",
        patchCommand(workload, { template: { spec: { automountServiceAccountToken: true } } }, advice),
      ),
      about,
    ),
  ];
}
