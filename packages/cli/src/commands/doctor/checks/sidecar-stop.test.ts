import { expect, it } from "vitest";
import type { Container, PodSpec } from "../workload.ts";
import { checkSidecarStop } from "./sidecar-stop.ts";

const sidecar: Container = { name: "tenure", args: ["sidecar", "--lease-lock-name=web"] };
const check = (app: Partial<Container>, pod: Partial<PodSpec> = {}) =>
  checkSidecarStop(
    {
      kind: "Deployment",
      metadata: { name: "web" },
      spec: {
        template: {
          spec: { initContainers: [sidecar], containers: [{ name: "app", ...app }], ...pod },
        },
      },
    },
    { about: "prod/web" },
  );

it("warns that an application may keep the lease for the whole grace period", () => {
  const [report] = check({ command: ["node", "app.js"] }, { terminationGracePeriodSeconds: 35 });
  expect(report).toMatchObject({ check: "stop", verdict: "hint" });
  expect(report?.what).toContain("the lease is then kept for the whole grace period of 35 s");
  expect(report?.fix).toContain("handle SIGTERM");
  expect(check({})).toHaveLength(1);
});

it.each([
  ["it has a preStop hook", { lifecycle: { preStop: { exec: {} } } }, {}],
  ["an init starts it", { command: ["/sbin/tini", "--", "node", "app.js"] }, {}],
  ["it is not process 1", {}, { shareProcessNamespace: true }],
  ["there is no sidecar", {}, { initContainers: [] }],
])("says nothing if %s", (_why, app, pod) => {
  expect(check(app, pod)).toEqual([]);
});
