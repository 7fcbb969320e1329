/** Checks that Services reach the leader only, where a flag of tenure says so. Pure. */
import { roleLabel } from "@tenure/traffic/internal";
import type { Facts } from "../facts.ts";
import { candidatesOf, flagOf, hasFlag } from "../flags.ts";
import { selects } from "../pods.ts";
import { finding, ok, type Report } from "../report.ts";
import type { Service } from "../snapshot.ts";
import { nameOf, type Workload } from "../workload.ts";

export function checkServices(workload: Workload, facts: Facts): Report[] {
  const { services } = facts.snapshot;
  if (services === undefined || facts.election === undefined) return [];
  const containers = candidatesOf(workload, facts.election);
  const written = containers.map((container) => flagOf(container, "service")).find(Boolean);
  return [
    ...(containers.some((container) => hasFlag(container, "label"))
      ? checkSelectors(workload, services, facts)
      : []),
    ...(written === undefined ? [] : checkWritten(services, written, facts)),
  ];
}

/** Other Services may reach all replicas, for metrics for example. But one must select the leader, or the label has no use. */
function checkSelectors(
  workload: Workload,
  services: readonly Service[],
  { about, advice }: Facts,
): Report[] {
  const labels = workload.spec.template.metadata?.labels;
  const roles = [{ [roleLabel]: "leader" }, { [roleLabel]: "standby" }];
  const reaching = services.filter(({ spec }) =>
    roles.some((role) => selects({ ...labels, ...role }, spec?.selector)),
  );
  const [first] = reaching;
  if (first === undefined) return [];
  const leaderOnly = reaching.find(({ spec }) => spec?.selector?.[roleLabel] === "leader");
  if (leaderOnly) return [ok("services", `Service ${leaderOnly.metadata.name} selects the leader`, about)];
  const names = reaching.map(({ metadata }) => metadata.name).join(", ");
  const patch = JSON.stringify({ spec: { selector: { [roleLabel]: "leader" } } });
  return [
    finding(
      "services",
      `no Service selects the leader of ${nameOf(workload)} by its label: ${names} sends traffic to standbys too`,
      {
        fix: `add ${roleLabel}: leader to the selector`,
        command: advice.kubectl(`patch service/${first.metadata.name} --type=merge -p '${patch}'`),
      },
      about,
    ),
  ];
}

/** The endpoints controller adds all pods that a selector matches, beside the leader's own EndpointSlice. */
function checkWritten(services: readonly Service[], name: string, { about, advice }: Facts): Report[] {
  const service = services.find(({ metadata }) => metadata.name === name);
  if (service === undefined) {
    const fix = "create it without a selector: the leader writes its EndpointSlice. Or correct --service";
    return [finding("services", `Service ${name} does not exist, but --service names it`, fix, about)];
  }
  if (Object.keys(service.spec?.selector ?? {}).length === 0)
    return [ok("services", `Service ${name} has no selector: the leader writes its addresses`, about)];
  const patch = JSON.stringify({ spec: { selector: null } });
  return [
    finding(
      "services",
      `Service ${name} has a selector, so Kubernetes adds every replica to it beside the leader`,
      {
        fix: "remove the selector: the leader writes its address because of --service",
        command: advice.kubectl(`patch service/${name} --type=merge -p '${patch}'`),
      },
      about,
    ),
  ];
}
