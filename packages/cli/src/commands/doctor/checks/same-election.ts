/**
 * Checks that all replicas of a workload take part in the same election, with the same timings. Otherwise there are several
 * leaders, or the time of a failover depends on who leads. Pure.
 */
import { formatDuration } from "@tenure/base";
import type { Facts } from "../facts.ts";
import { durationOf, electionFlagOf, electionNameOf, switchOf } from "../flags.ts";
import { livePodsOf, type Pod } from "../pods.ts";
import { finding, fixWith, type Report } from "../report.ts";
import {
  containersOf,
  containersOfPod,
  isKnown,
  nameOf,
  replicasOf,
  resourceOf,
  type Workload,
} from "../workload.ts";
import { scaleCommand } from "../workload-commands.ts";

export function checkSameElection(workload: Workload, facts: Facts): Report[] {
  for (const check of [checkSwitch, checkVariable, checkNames]) {
    const reports = check(workload, facts);
    if (reports.length > 0) return reports;
  }
  return checkTimings(workload, facts);
}

/** Programs on client-go run everywhere at once if the election is switched off. */
export function checkSwitch(workload: Workload, { about }: Facts): Report[] {
  const off = containersOf(workload)
    .map(switchOf)
    .find((found) => found?.isOn === false);
  if (off === undefined || replicasOf(workload) <= 1) return [];
  return [
    finding(
      "unelected",
      `${replicasOf(workload)} replicas of ${nameOf(workload)} work at the same time: ${off.flag}=false switches the election off`,
      `set ${off.flag}=true, or replicas: 1`,
      about,
    ),
  ];
}

/** A name with the name of the pod in it: `--lease-lock-name=billing-$(POD_NAME)`. */
function checkVariable(workload: Workload, { about }: Facts): Report[] {
  const name = containersOf(workload)
    .map(electionFlagOf)
    .find((flag) => flag?.includes("$"));
  const isOfPod = /\$[({]?(POD|HOST|NODE|MY_POD)\w*[)}]?/i.test(name ?? "");
  if (!isOfPod || replicasOf(workload) <= 1) return [];
  return [
    finding(
      "names",
      `every replica of ${nameOf(workload)} leads an election of its own: the name of the lock is ${name}, which differs in each pod`,
      "give all replicas the same name of the lock. The name of the pod belongs into --id or POD_NAME",
      about,
    ),
  ];
}

function checkNames(workload: Workload, { election, snapshot, about, advice }: Facts): Report[] {
  const groups = groupPods(livePodsOf(workload, snapshot.pods), ({ spec }) =>
    containersOfPod(spec).map(electionNameOf).filter(Boolean).sort().join(" and "),
  );
  groups.delete("");
  if (election === undefined || groups.size < 2) return [];
  const what = [...groups].map(
    ([name, pods]) => `${pods.join(", ")} use${pods.length === 1 ? "s" : ""} ${name}`,
  );
  return [
    finding(
      "names",
      `the pods of ${nameOf(workload)} use different locks, so each lock has a leader: ${what.join("; ")}`,
      fixWith(
        "stop all replicas, then start them with one name of the lock. A rollout cannot change the name without two leaders",
        scaleCommand(workload, 0, advice),
      ),
      about,
    ),
  ];
}

function checkTimings(workload: Workload, { election, snapshot, about, advice }: Facts): Report[] {
  const groups = groupPods(livePodsOf(workload, snapshot.pods), ({ spec }) => {
    const own = containersOfPod(spec).find((container) => electionNameOf(container) === election);
    const ms = own && durationOf(own, "lease-duration");
    return ms === undefined ? "" : formatDuration(ms);
  });
  groups.delete("");
  if (groups.size < 2) return [];
  const what = [...groups].map(([duration, pods]) => `${duration} in ${pods.join(", ")}`);
  return [
    finding(
      "timings",
      `the pods of ${nameOf(workload)} have different lease durations, so the time of a failover depends on who leads: ${what.join("; ")}`,
      fixWith(
        "finish the rollout that changes it",
        isKnown(workload) ? advice.kubectl(`rollout restart ${resourceOf(workload)}`) : undefined,
      ),
      about,
    ),
  ];
}

/** The names of the pods by a property. */
function groupPods(pods: readonly Pod[], keyOf: (pod: Pod) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const pod of pods) {
    const key = keyOf(pod);
    groups.set(key, [...(groups.get(key) ?? []), pod.metadata.name]);
  }
  return groups;
}
