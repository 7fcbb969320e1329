/**
 * Finds pods of a workload that work without the election: during the first rollout from replicas without an election, the old
 * pods know nothing of the lease and work beside the new leader. Pure.
 */
import type { Facts } from "../facts.ts";
import { electionFlagOf, electionsOf } from "../flags.ts";
import { livePodsOf } from "../pods.ts";
import { finding, fixWith, type Report } from "../report.ts";
import { containersOfPod, nameOf, type Workload } from "../workload.ts";
import { scaleCommand } from "../workload-commands.ts";

export function checkUnelected(
  workload: Workload,
  { election = "", snapshot, about, advice }: Facts,
): Report[] {
  // Only the flags of a container show whether it takes part. A program that uses the library does not show it.
  if (!electionsOf(workload).includes(election)) return [];
  const unelected = livePodsOf(workload, snapshot.pods)
    .filter(({ spec }) => containersOfPod(spec).every((each) => electionFlagOf(each) === undefined))
    .map(({ metadata }) => metadata.name);
  if (unelected.length === 0) return [];
  const [pod, runs] = unelected.length === 1 ? ["pod", "runs"] : ["pods", "run"];
  return [
    finding(
      "unelected",
      `${unelected.length} ${pod} of ${nameOf(workload)} ${runs} without the election, beside the leader: ${unelected.join(", ")}`,
      fixWith(
        [
          "stop all of them before new ones start: scale to 0, wait until the pods are gone, then scale up again.",
          "For the next first rollout, set strategy: {type: Recreate}",
        ].join("\n"),
        scaleCommand(workload, 0, advice),
      ),
      about,
    ),
  ];
}
