/**
 * Finds pods of a workload that work without the election: during the first rollout from replicas without an election, the old
 * pods know nothing of the lease and work beside the new leader. Pure.
 */
import { finding, type Report } from "../report.ts";
import { isAlive, type Snapshot, selects } from "../snapshot.ts";
import { containersOfPod, electionsOf, flagOf, nameOf, type Workload } from "../workload.ts";

export function checkUnelected(
  workload: Workload,
  election: string,
  { pods = [] }: Snapshot,
  about: string,
): Report[] {
  // Only the flags of a container show whether it takes part. A program that uses the library does not show it.
  if (!electionsOf(workload).includes(election)) return [];
  const unelected = pods
    .filter((pod) => isAlive(pod) && selects(pod.metadata.labels, workload.spec.selector?.matchLabels))
    .filter(({ spec }) => !containersOfPod(spec).some((each) => flagOf(each, "lease-lock-name") === election))
    .map(({ metadata }) => metadata.name);
  if (unelected.length === 0) return [];
  const { name, namespace = "default" } = workload.metadata;
  const [pod, runs] = unelected.length === 1 ? ["pod", "runs"] : ["pods", "run"];
  return [
    finding(
      "unelected",
      `${unelected.length} ${pod} of ${nameOf(workload)} ${runs} without the election, beside the leader: ${unelected.join(", ")}`,
      [
        "stop all of them before the new ones start. For a Deployment whose old pods know no election:",
        `kubectl scale deployment/${name} -n ${namespace} --replicas=0, wait until its pods are gone, then apply the new version;`,
        "or set strategy: {type: Recreate} for this rollout",
      ].join("\n"),
      about,
    ),
  ];
}
