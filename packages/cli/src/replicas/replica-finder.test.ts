import { expect, it } from "vitest";
import type { Pod } from "../commands/doctor/pods.ts";
import type { Workloads } from "../commands/doctor/snapshot.ts";
import { stateOf } from "../elections/state.ts";
import { podsOf, statusUrl } from "./replica-finder.ts";

const pod = (
  name: string,
  phase = "Running",
  args = ["run", "--lease-lock-name", "web", "--status", ":8081"],
) =>
  ({
    metadata: { name, labels: { app: "web" } },
    spec: { containers: [{ name: "c", args }] },
    status: { phase, podIP: "10.0.0.7" },
  }) satisfies Pod;

const election = stateOf(
  "lease",
  { metadata: { name: "web", namespace: "prod" }, spec: { holderIdentity: "web-1" } },
  0,
);

it("the pods of an election are those of its workload that have not ended", () => {
  if (!election) throw new Error("no state");
  const template = { metadata: { labels: { app: "web" } }, spec: pod("x").spec };
  const snapshot: Workloads = {
    pods: [
      pod("web-1"),
      pod("web-2", "Pending"),
      pod("web-3", "Failed"),
      { ...pod("other", "Running", []), metadata: { name: "other" } },
    ],
    workloads: [{ metadata: { name: "web" }, spec: { selector: { matchLabels: { app: "web" } }, template } }],
    denials: [],
  };
  expect(podsOf(election, snapshot).map(({ metadata }) => metadata.name)).toEqual(["web-1", "web-2"]);
});

it.each([
  [":8081", "http://10.0.0.7:8081"],
  ["0.0.0.0:8081", "http://10.0.0.7:8081"],
  ["127.0.0.1:8081", undefined],
  ["unix:/run/x", undefined],
])("the status server of a pod with --status %s is at %s", (address, url) => {
  expect(statusUrl(pod("p", "Running", ["run", "--status", address]), "web")).toBe(url);
});
