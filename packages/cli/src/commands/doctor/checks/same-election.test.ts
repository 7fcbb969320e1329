import { expect, it } from "vitest";
import { deploymentOf, factsWith, findingsIn } from "../../../testing/doctor-facts.ts";
import type { Pod } from "../pods.ts";
import { checkSameElection } from "./same-election.ts";

const pod = (name: string, ...args: string[]): Pod => ({
  metadata: { name, labels: { app: "billing" } },
  spec: { containers: [{ name: "app", args }] },
});
const check = (args: string[], ...pods: Pod[]) =>
  findingsIn(checkSameElection(deploymentOf([{ args }]), factsWith({ pods })));
const named = "--lease-lock-name=billing";

it("finds replicas with different names of the lock", () => {
  expect(check([named], pod("a", named), pod("b", "--lease-lock-name=biling"))).toEqual([
    "the pods of Deployment billing use different locks, so each lock has a leader: a uses billing; b uses biling",
  ]);
});

it("finds a name that differs in each pod", () => {
  expect(check(["--lease-name=billing-$(POD_NAME)"])).toEqual([
    "every replica of Deployment billing leads an election of its own: the name of the lock is billing-$(POD_NAME), which differs in each pod",
  ]);
});

it("finds an election that is switched off", () => {
  expect(check(["--leader-elect=false"])).toEqual([
    "3 replicas of Deployment billing work at the same time: --leader-elect=false switches the election off",
  ]);
});

it("finds different lease durations", () => {
  expect(
    check([named], pod("a", named, "--lease-duration=15s"), pod("b", named, "--preset=low-load")),
  ).toEqual([
    "the pods of Deployment billing have different lease durations, so the time of a failover depends on who leads: 15s in a; 1m in b",
  ]);
});

it.each([
  ["all are the same", [named], [pod("a", named), pod("b", named)]],
  ["others do not take part", [named], [pod("a", named), pod("b")]],
  ["the election is switched on", ["--leader-elect"], []],
  ["the name has no variable of the pod", ["--lease-name=$(RELEASE)"], []],
])("finds nothing if %s", (_why, args, pods) => expect(check(args, ...pods)).toEqual([]));
