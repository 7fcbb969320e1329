/** Checks that every replica takes part: pods that run but do not show themselves, and candidates in trouble. Pure. */
import { ago } from "../../../display/durations.ts";
import type { Candidate } from "../../../elections/candidates.ts";
import type { Facts } from "../facts.ts";
import { candidatesOf, hasFlag } from "../flags.ts";
import { isIdentityOf, isRunning, livePodsOf, type Pod, podOf } from "../pods.ts";
import { finding, fixWith, hint, ok, type Report, skipped } from "../report.ts";
import { nameOf, type Workload } from "../workload.ts";

/** @param candidates undefined if the user may not list them */
export function checkCandidates(
  candidates: readonly Candidate[] | undefined,
  workloads: readonly Workload[],
  facts: Facts,
): Report[] {
  const { about } = facts;
  if (candidates === undefined) {
    const what = `you may not list leases in namespace "${facts.advice.namespace}", so the other candidates were not checked`;
    return [skipped("candidates", what, about)];
  }
  // Without a single candidate, they are of a kind that does not show itself.
  if (candidates.length === 0) return [];
  const present = candidates.filter(({ isPresent }) => isPresent);
  const absent = workloads
    .filter((workload) => showsItself(workload, facts.election ?? ""))
    .flatMap((workload) => absentPods(workload, present, facts));
  const failing = present.filter(({ standing }) => standing === "failing");
  const reports = [...absent, ...failing.map((candidate) => troubleOf(candidate, facts))];
  if (reports.length > 0) return reports;
  if (present.length === 1) {
    const what = `${present[0]?.identity} is the only candidate: when it stops, nobody leads`;
    return [hint("candidates", what, "start a second replica", about)];
  }
  return [ok("candidates", `${present.length} candidates take part`, about)];
}

function showsItself(workload: Workload, election: string): boolean {
  return !candidatesOf(workload, election).some((container) => hasFlag(container, "no-register"));
}

function absentPods(
  workload: Workload,
  present: readonly Candidate[],
  { snapshot, about, advice }: Facts,
): Report[] {
  const own = livePodsOf(workload, snapshot.pods).filter(isRunning);
  const isShown = (pod: Pod) => present.some(({ identity }) => isIdentityOf(pod, identity));
  // None of its pods is known by its name: they have other identities, or do not show themselves on purpose.
  if (!own.some(isShown)) return [];
  return own
    .filter((pod) => !isShown(pod))
    .map(({ metadata }) =>
      finding(
        "candidates",
        `pod ${metadata.name} of ${nameOf(workload)} runs, but does not take part in the election`,
        {
          fix: "see what it does. If it uses the library, is election.run() called?",
          command: advice.kubectl(`logs ${metadata.name}`),
        },
        about,
      ),
    );
}

function troubleOf({ identity, reason, seenMs }: Candidate, { snapshot, about, advice }: Facts): Report {
  const what = `${identity} cannot lead: ${reason} (seen ${ago(seenMs ?? 0)})`;
  const pod = podOf(snapshot.pods ?? [], identity);
  return finding(
    "candidates",
    what,
    fixWith("see its log", pod && advice.kubectl(`logs ${pod.metadata.name}`)),
    about,
  );
}
