import { expect, it } from "vitest";
import { deploymentOf, factsWith, findingsIn } from "../../../testing/doctor-facts.ts";
import type { Pod } from "../pods.ts";
import { checkStranger, checkWorkload } from "./workloads.ts";

const pod = (name: string, isReady: boolean): Pod => ({
  metadata: { name, labels: { app: "billing" } },
  spec: { containers: [] },
  status: {
    phase: "Running",
    conditions: [
      { type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: "2026-01-01T00:30:00Z" },
    ],
  },
});
const probing = deploymentOf([{ readinessProbe: { exec: { command: ["cat", "/tmp/ready"] } } }]);
const check = (pods: Pod[] | undefined, workload = probing) =>
  findingsIn(checkStranger(workload, factsWith({ pods }, { election: undefined, about: undefined })));

it("finds the deadlock of a workload whose election is not known", () => {
  expect(check([pod("a", true), pod("b", false), pod("c", false)])).toEqual([
    expect.stringContaining("a rollout of Deployment billing would hang"),
  ]);
});

it.each([
  ["all pods are Ready", [pod("a", true), pod("b", true)]],
  ["two are, and one starts", [pod("a", true), pod("b", true), pod("c", false)]],
  ["the pods are not known", undefined],
  ["there are none", []],
])("says nothing about an ordinary workload with a file for its readiness if %s", (_why, pods) => {
  expect(check(pods)).toEqual([]);
});

it("finds nothing to say about an ordinary workload", () => {
  expect(check([pod("a", true)], deploymentOf([{ command: ["node", "server.js"] }]))).toEqual([]);
});

it("finds a grace period that is too short, with the command that changes it", () => {
  const workload = deploymentOf([{ args: ["run", "--lease-lock-name=billing", "--id=$(POD_NAME)"] }], {
    pod: { terminationGracePeriodSeconds: 20 },
  });
  const [report] = checkWorkload(workload, factsWith()).filter(({ verdict }) => verdict === "finding");
  expect(report).toMatchObject({ check: "grace" });
  expect(report?.command).toBe(
    `kubectl patch deployment/billing --type=merge -p '{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":30}}}}' -n prod`,
  );
});
