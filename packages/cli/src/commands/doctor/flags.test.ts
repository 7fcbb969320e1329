import { describe, expect, it } from "vitest";
import {
  durationOf,
  electionFlagOf,
  electionsOf,
  fixedIdentity,
  flagOf,
  hasFlag,
  runsCommand,
  switchOf,
} from "./flags.ts";
import { type Container, namesPodOf, type Workload } from "./workload.ts";

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

describe("the name of the election in the flags of other programs", () => {
  it.each([
    ["client-go's example", ["-lease-lock-name=x"]],
    ["kube-controller-manager", ["--leader-elect=true", "--leader-elect-resource-name=x"]],
    ["kubebuilder", ["--leader-elect", "--leader-election-id=x"]],
    ["csi sidecars", ["--leader-election", "--lease-name", "x"]],
    ["the old sidecar leader-elector", ["--election=x", "--http=localhost:4040"]],
    ["a shell", ["sh", "-c", "exec /manager --leader-election-id=x"]],
  ])("%s", (_who, args) => {
    expect(electionsOf(workload([container({ args })]))).toEqual(["x"]);
  });

  it("follows a variable of the container, but not one that differs in each pod", () => {
    const name = { name: "LEASE", value: "x" };
    const pod = { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } };
    const of = (flag: string) => container({ args: [`--lease-name=${flag}`], env: [name, pod] });
    expect(electionsOf(workload([of("$(LEASE)")]))).toEqual(["x"]);
    expect(electionsOf(workload([of("a-$(POD_NAME)")]))).toEqual([]);
    expect(electionFlagOf(of("a-$(POD_NAME)"))).toBe("a-$(POD_NAME)");
  });

  it.each([
    [["--leader-elect"], { flag: "--leader-elect", isOn: true }],
    [["--leader-elect=true"], { flag: "--leader-elect", isOn: true }],
    [["--enable-leader-election=false"], { flag: "--enable-leader-election", isOn: false }],
    [["--leader-elect-resource-name=x"], undefined],
    [[], undefined],
  ])("the switch in %j", (args, expected) => expect(switchOf(container({ args }))).toEqual(expected));

  it.each([
    [["run", "--lease-duration=20s"], 20_000],
    [["--leader-elect-lease-duration=30s"], 30_000],
    [["run", "--preset=low-load"], 60_000],
    [["run"], undefined],
  ])("the lease duration in %j", (args, ms) => {
    expect(durationOf(container({ args }), "lease-duration")).toBe(ms);
  });
});

it.each([
  [{ args: ["run", "--lease-lock-name=x"] }, true],
  [{ command: ["tenure", "run"] }, true],
  [{ command: ["node", "/app/tenure.mjs", "run"] }, true],
  [{ command: ["sh", "-c", "exec npx tenure run --lease-lock-name=x -- node worker.js"] }, true],
  [{ command: ["npm", "run", "worker"] }, false],
  [{ command: ["node", "worker.js"] }, false],
])("%j runs tenure: %s", (more, runs) => expect(runsCommand(container(more), "run")).toBe(runs));

it("recognizes the names of its pods", () => {
  const deployment = workload([]);
  expect(namesPodOf(deployment, "billing-7d9f8c-xk2lp")).toBe(true);
  expect(namesPodOf(deployment, "billing-7d9f8c-xk2lp_4711")).toBe(true);
  expect(namesPodOf(deployment, "billing-api-7d9f8c-xk2lp")).toBe(false);
  expect(namesPodOf(deployment, "laptop")).toBe(false);
  expect(namesPodOf(workload([], { kind: "StatefulSet" }), "billing-0")).toBe(true);
});
