/** Checks that every replica takes part: pods that run but do not show themselves, and candidates in trouble. Pure. */
import { ago } from "../../../display/durations.ts";
import type { Candidate } from "../../../elections/candidates.ts";
import { finding, hint, ok, type Report } from "../report.ts";
import { isAlive, type Pod, type Snapshot, selects } from "../snapshot.ts";
import { candidatesOf, hasFlag, nameOf, type Workload } from "../workload.ts";

/** @param candidates undefined if they cannot be listed */
export function checkCandidates(
  candidates: readonly Candidate[] | undefined,
  workloads: readonly Workload[],
  election: string,
  { pods }: Snapshot,
  about: string,
): Report[] {
  // Without a single candidate, they are of a kind that does not show itself.
  if (candidates === undefined || candidates.length === 0) return [];
  const present = candidates.filter(({ isPresent }) => isPresent);
  const absent = workloads
    .filter((workload) => showsItself(workload, election))
    .flatMap((workload) => absentPods(workload, pods ?? [], present, about));
  const failing = present.filter(({ standing }) => standing === "failing");
  const reports = [...absent, ...failing.map((candidate) => troubleOf(candidate, about))];
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
  pods: readonly Pod[],
  present: readonly Candidate[],
  about: string,
): Report[] {
  const own = pods.filter(
    (pod) =>
      isAlive(pod) &&
      pod.status?.phase === "Running" &&
      pod.metadata.deletionTimestamp === undefined &&
      selects(pod.metadata.labels, workload.spec.selector?.matchLabels),
  );
  const isShown = ({ metadata }: Pod) =>
    present.some(({ identity }) => identity === metadata.name || identity.startsWith(`${metadata.name}_`));
  // None of its pods is known by its name: they have other identities, or do not show themselves on purpose.
  if (!own.some(isShown)) return [];
  return own
    .filter((pod) => !isShown(pod))
    .map(({ metadata }) =>
      finding(
        "candidates",
        `pod ${metadata.name} of ${nameOf(workload)} runs, but does not take part in the election`,
        `see what it does: kubectl logs ${metadata.name} -n ${metadata.namespace ?? "default"}. If it uses the library, is election.run() called?`,
        about,
      ),
    );
}

function troubleOf({ identity, reason, seenMs }: Candidate, about: string): Report {
  const what = `${identity} cannot lead: ${reason} (seen ${ago(seenMs ?? 0)})`;
  return finding("candidates", what, `see its log: kubectl logs ${identity}`, about);
}
