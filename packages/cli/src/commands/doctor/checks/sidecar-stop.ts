/**
 * Warns where an application beside a sidecar may ignore SIGTERM. Kubernetes stops the sidecar only after the application has
 * exited, so the lease is kept until then, and nobody serves. Whether the program handles the signal cannot be seen here. Pure.
 */
import type { Facts } from "../facts.ts";
import { runsCommand } from "../flags.ts";
import { hint, type Report } from "../report.ts";
import { type Container, nameOf, type Workload } from "../workload.ts";

/** The default of Kubernetes. */
const defaultGraceSeconds = 30;
/** Programs that run as process 1 and pass signals on to a process that does not ignore them. */
const inits = /(^|\/)(tini|dumb-init|catatonit|s6-svscan|init)$/;

export function checkSidecarStop(workload: Workload, { about }: Pick<Facts, "about">): Report[] {
  const { initContainers = [], containers, shareProcessNamespace, ...pod } = workload.spec.template.spec;
  if (!initContainers.some((container) => runsCommand(container, "sidecar"))) return [];
  if (shareProcessNamespace) return [];
  const graceSeconds = pod.terminationGracePeriodSeconds ?? defaultGraceSeconds;
  return containers
    .filter(mayIgnoreSigterm)
    .map(({ name }) =>
      hint(
        "stop",
        `${nameOf(workload)}, container ${name} is process 1 of its container. If it does not handle SIGTERM, it ignores it: the lease is then kept for the whole grace period of ${graceSeconds} s, and nobody serves`,
        "handle SIGTERM in the application, start it with an init such as tini, add a preStop hook that stops it, or set a shorter terminationGracePeriodSeconds",
        about,
      ),
    );
}

function mayIgnoreSigterm({ command = [], lifecycle }: Container): boolean {
  return lifecycle?.preStop === undefined && !inits.test(command[0] ?? "");
}
