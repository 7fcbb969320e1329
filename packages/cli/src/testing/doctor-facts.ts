/** Facts for the tests of the doctor's checks: an election prod/billing without a lock, and an empty namespace. */
import { adviceFor } from "../commands/doctor/advice.ts";
import type { Facts } from "../commands/doctor/facts.ts";
import type { Report } from "../commands/doctor/report.ts";
import type { Snapshot } from "../commands/doctor/snapshot.ts";
import type { Container, Workload } from "../commands/doctor/workload.ts";
import { type ElectionState, stateOf } from "../elections/state.ts";

const factsNowMs = Date.UTC(2026, 0, 1, 1);

export function factsWith(snapshot: Partial<Snapshot> = {}, more: Partial<Facts> = {}): Facts {
  return {
    election: "billing",
    about: "prod/billing",
    state: undefined,
    snapshot: {
      pods: [],
      workloads: [],
      budgets: [],
      services: [],
      accounts: undefined,
      slices: [],
      configMaps: [],
      denials: [],
      ...snapshot,
    },
    nowMs: factsNowMs,
    advice: adviceFor({ namespace: "prod", flags: {}, isStore: false, isPod: false, sandboxKubeconfig: "" }),
    ...more,
  };
}

/** A lock that this holder renewed a moment ago. */
export function ledBy(holderIdentity: string, more: object = {}): ElectionState {
  const renewTime = new Date(factsNowMs).toISOString();
  const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime, ...more };
  const object = { metadata: { name: "billing", namespace: "prod" }, spec };
  return stateOf("lease", object, factsNowMs) as ElectionState;
}

/** A Deployment billing with three replicas of these containers. */
export function deploymentOf(
  containers: readonly Partial<Container>[],
  more: Partial<Workload["spec"]> & { kind?: string; pod?: object } = {},
): Workload {
  const { kind = "Deployment", pod = {}, ...spec } = more;
  const labels = { app: "billing" };
  return {
    kind,
    metadata: { name: "billing", namespace: "prod" },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: containers.map((each) => ({ name: "app", ...each })), ...pod },
      },
      ...spec,
    },
  };
}

/** The findings as text. */
export function findingsIn(reports: readonly Report[]): string[] {
  return reports.filter(({ verdict }) => verdict === "finding").map(({ what }) => what);
}
