import { describe, expect, it } from "vitest";
import {
  type Container,
  fixedIdentity,
  flagOf,
  hasFlag,
  leaderOnlyReadiness,
  namesPodOf,
  type Workload,
} from "./workload.ts";

const container = (more: Partial<Container>): Container => ({ name: "app", ...more });

function workload(containers: Container[], more: Partial<Workload> = {}): Workload {
  return {
    kind: "Deployment",
    metadata: { name: "billing" },
    spec: { template: { spec: { containers } } },
    ...more,
  };
}

describe("flags in a manifest", () => {
  it.each([
    [{ args: ["run", "--lease-lock-name=x"] }, "x"],
    [{ args: ["run", "--lease-lock-name", "x"] }, "x"],
    [{ command: ["tenure", "elect", "-lease-lock-name=x"] }, "x"],
    [{ env: [{ name: "TENURE_LEASE_LOCK_NAME", value: "x" }] }, "x"],
    [{ args: ["run", "--", "child", "--lease-lock-name=x"] }, undefined],
    [{}, undefined],
  ])("%j", (more, value) => {
    expect(flagOf(container(more), "lease-lock-name")).toBe(value);
  });

  it("switches", () => {
    expect(hasFlag(container({ args: ["run", "--label"] }), "label")).toBe(true);
    expect(hasFlag(container({ env: [{ name: "TENURE_LABEL", value: "true" }] }), "label")).toBe(true);
    expect(hasFlag(container({ args: ["run", "--", "--label"] }), "label")).toBe(false);
  });
});

describe("an identity that all replicas share", () => {
  it.each([
    [{ env: [{ name: "POD_NAME", value: "billing" }] }, "billing"],
    [{ args: ["run", "--id=billing"] }, "billing"],
    [{ args: ["run", "--id=$(POD_NAME)"] }, undefined],
    [{ env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }, undefined],
    [{}, undefined],
  ])("%j", (more, identity) => {
    expect(fixedIdentity(container(more))).toBe(identity);
  });
});

describe("a readiness probe that only the leader passes", () => {
  const exec = (...command: string[]) => ({ readinessProbe: { exec: { command } } });
  const httpGet = (path: string) => ({ readinessProbe: { httpGet: { path } } });

  it.each([
    [exec("cat", "/tmp/ready")],
    [exec("sh", "-c", "test -f /tmp/ready")],
    [{ ...exec("cat", "/run/leader"), args: ["run", "--ready-file=/run/leader"] }],
    [exec("tenure", "probe", "--lease", "billing")],
    [exec("sh", "-c", 'tenure probe --file /etc/leader/leader --contains "$POD_NAME"')],
    [httpGet("/readyz?mode=leader")],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=leader"] }],
  ])("%j", (more) => {
    expect(leaderOnlyReadiness(workload([container(more)]))).toBeDefined();
  });

  it.each([
    [exec("true")],
    [httpGet("/readyz")],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=always"] }],
    [{ ...httpGet("/readyz"), args: ["run", "--status-ready=elected"] }],
    [{}],
  ])("not %j", (more) => {
    expect(leaderOnlyReadiness(workload([container(more)]))).toBeUndefined();
  });
});

it("recognizes the names of its pods", () => {
  const deployment = workload([]);
  expect(namesPodOf(deployment, "billing-7d9f8c-xk2lp")).toBe(true);
  expect(namesPodOf(deployment, "billing-7d9f8c-xk2lp_4711")).toBe(true);
  expect(namesPodOf(deployment, "billing-api-7d9f8c-xk2lp")).toBe(false);
  expect(namesPodOf(deployment, "laptop")).toBe(false);
  expect(namesPodOf(workload([], { kind: "StatefulSet" }), "billing-0")).toBe(true);
});
