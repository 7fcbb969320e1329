import { expect, it } from "vitest";
import type { Snapshot } from "../snapshot.ts";
import type { Workload } from "../workload.ts";
import { checkWorkload } from "./workloads.ts";

function rolloutReport(spec: Partial<Workload["spec"]>, probe: readonly string[] = ["cat", "/tmp/ready"]) {
  const workload: Workload = {
    kind: "Deployment",
    metadata: { name: "web", namespace: "prod" },
    spec: {
      replicas: 3,
      template: { spec: { containers: [{ name: "app", readinessProbe: { exec: { command: probe } } }] } },
      ...spec,
    },
  };
  const reports = checkWorkload(workload, "web", { pods: [] } as unknown as Snapshot, "prod/web");
  return reports.find(({ check }) => check === "rollout");
}
const all = { strategy: { rollingUpdate: { maxUnavailable: "100%", maxSurge: 0 } } };

it.each([[all], [{ strategy: { type: "Recreate" } }]])(
  "warns that kubectl rollout status never succeeds if only the leader is Ready: %j",
  (spec) => {
    const report = rolloutReport(spec);
    expect(report?.verdict).toBe("hint");
    expect(report?.what).toContain("kubectl rollout status never succeeds: it waits for 3 Ready replicas");
    expect(report?.fix).toBe(
      "wait for the leader instead: kubectl wait deployment/web -n prod --for=jsonpath='{.status.readyReplicas}'=1",
    );
  },
);

it("finds a rollout that hangs", () => {
  expect(rolloutReport({})?.verdict).toBe("finding");
});

it("is satisfied if standbys are Ready, or if there is one replica", () => {
  expect(rolloutReport(all, ["true"])?.verdict).toBe("ok");
  expect(rolloutReport({ ...all, replicas: 1 })?.verdict).toBe("ok");
});
