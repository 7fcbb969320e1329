/** Checks the manifest of a workload, and its pods. Pure. */
import { describeProblem, formatDuration, parseDuration } from "@tenure/base";
import { checkNesting, supervisorDefaults } from "@tenure/supervisor";
import type { Facts } from "../facts.ts";
import { candidatesOf, flagOf, hasIdentity, isRunByTenure } from "../flags.ts";
import { hasWaitingPods } from "../probes.ts";
import { finding, fixWith, ok, type Report } from "../report.ts";
import { nameOf, type Workload } from "../workload.ts";
import { patchCommand } from "../workload-commands.ts";
import { checkAccount } from "./account.ts";
import { checkReplicas } from "./budget.ts";
import { checkLiveness, checkRollout } from "./rollout.ts";
import { checkSameElection, checkSwitch } from "./same-election.ts";
import { checkServices } from "./services.ts";
import { checkSidecarStop } from "./sidecar-stop.ts";
import { checkUnelected } from "./unelected.ts";

const defaultGraceSeconds = supervisorDefaults.podGraceMs / 1_000;
const defaultStopTimeout = formatDuration(supervisorDefaults.stopTimeoutMs);

export function checkWorkload(workload: Workload, facts: Facts): Report[] {
  return [
    checkRollout(workload, facts),
    ...checkLiveness(workload, facts),
    ...checkUnelected(workload, facts),
    ...checkSameElection(workload, facts),
    ...checkAccount(workload, facts),
    ...checkGrace(workload, facts),
    ...checkSidecarStop(workload, facts),
    ...checkNames(workload, facts),
    ...checkReplicas(workload, facts),
    ...checkServices(workload, facts),
  ];
}

/**
 * What can be said about a workload of which no election is known: only what is wrong. It may be an ordinary one, so its probe
 * counts only if some of its pods are not Ready.
 */
export function checkStranger(workload: Workload, facts: Facts): Report[] {
  const isWaiting = hasWaitingPods(workload, facts.snapshot.pods, facts.nowMs);
  const reports = [...checkSwitch(workload, facts), ...(isWaiting ? [checkRollout(workload, facts)] : [])];
  return reports.filter(({ verdict }) => verdict === "finding");
}

const nestingNames: Readonly<Record<string, string>> = {
  podGraceMs: "terminationGracePeriodSeconds",
  stopTimeoutMs: "--stop-timeout",
};

function checkGrace(workload: Workload, { election = "", about, advice }: Facts): Report[] {
  const podGraceMs =
    (workload.spec.template.spec.terminationGracePeriodSeconds ?? defaultGraceSeconds) * 1_000;
  return candidatesOf(workload, election).flatMap((container) => {
    const given =
      flagOf(container, "stop-timeout") ?? (isRunByTenure(container) ? defaultStopTimeout : undefined);
    const stopTimeoutMs = parseDuration(given);
    if (stopTimeoutMs === undefined) return [];
    const [problem] = checkNesting({ podGraceMs, stopTimeoutMs });
    if (problem === undefined) {
      return [
        ok("grace", `${nameOf(workload)} has enough time to stop: ${given} of ${podGraceMs / 1_000}s`, about),
      ];
    }
    const enough = Math.ceil(stopTimeoutMs / 1_000) + 5;
    return [
      finding(
        "grace",
        `${nameOf(workload)}, container ${container.name}: ${describeProblem(problem, (field) => nestingNames[field] ?? field)}. The kubelet would kill it before it releases its lease`,
        fixWith(
          `set terminationGracePeriodSeconds: ${enough}, or a shorter --stop-timeout`,
          patchCommand(workload, { template: { spec: { terminationGracePeriodSeconds: enough } } }, advice),
        ),
        about,
      ),
    ];
  });
}

function checkNames(workload: Workload, { election = "", about }: Facts): Report[] {
  return candidatesOf(workload, election)
    .filter((container) => isRunByTenure(container) && !hasIdentity(container))
    .map(({ name }) =>
      finding(
        "identity",
        `${nameOf(workload)}, container ${name} has no identity: neither POD_NAME nor --id is set. It uses its host name and a random suffix, which does not lead to its pod`,
        ["env:", "  - name: POD_NAME", "    valueFrom: {fieldRef: {fieldPath: metadata.name}}"].join("\n"),
        about,
      ),
    );
}
