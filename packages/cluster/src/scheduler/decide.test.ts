import { describe, expect, it } from "vitest";
import type { Labels, Node, Pod, PodSpec } from "../client/objects.ts";
import { node, pod } from "../testing/fixtures.ts";
import { decideNode } from "./decide.ts";
import { takeSnapshot } from "./snapshot.ts";

const zone = (name: string, where: string) => node(name, { labels: { zone: where } });
const on = (
  nodeName: string,
  name: string,
  labels: Labels = { app: "web" },
  spec: Partial<PodSpec> = {},
): Pod => pod(name, { readyFor: 1, metadata: { labels }, spec: { nodeName, ...spec } });
const cpu = (amount: string) => [{ name: "c", resources: { requests: { cpu: amount } } }];
const web = (spec: Partial<PodSpec>): Pod => pod("new", { metadata: { labels: { app: "web" } }, spec });

function decide(candidate: Pod, nodes: readonly Node[], pods: readonly Pod[] = []): string {
  const decision = decideNode(candidate, takeSnapshot(nodes, pods, new Map(), new Map()), 0);
  return "node" in decision ? decision.node : decision.message;
}

describe("a pod fits nowhere", () => {
  it.each<[string, Pod, Node[], Pod[], string]>([
    ["without nodes", web({}), [], [], "no nodes available to schedule pods"],
    [
      "without enough cpu",
      web({ containers: cpu("3") }),
      [node("a"), node("b"), node("c")],
      ["a", "b", "c"].map((name) => on(name, `on-${name}`, {}, { containers: cpu("2") })),
      "0/3 nodes are available: 3 Insufficient cpu.",
    ],
    [
      "for several reasons",
      web({ nodeSelector: { disk: "ssd" } }),
      [node("a"), node("b", { labels: { disk: "ssd" }, spec: { unschedulable: true } })],
      [],
      "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable.",
    ],
    [
      "because of a taint",
      web({}),
      [node("a", { spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] } })],
      [],
      "0/1 nodes are available: 1 node(s) had untolerated taint(s).",
    ],
    [
      "because its port is taken",
      web({ containers: [{ name: "c", ports: [{ containerPort: 80, hostPort: 80 }] }] }),
      [node("a")],
      [on("a", "other", {}, { containers: [{ name: "c", ports: [{ containerPort: 8080, hostPort: 80 }] }] })],
      "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
    ],
    [
      "because the node has too many pods",
      web({}),
      [node("a", { status: { allocatable: { pods: "1" } } })],
      [on("a", "other")],
      "0/1 nodes are available: 1 Too many pods.",
    ],
  ])("%s", (_name, candidate, nodes, pods, message) => {
    expect(decide(candidate, nodes, pods)).toBe(message);
  });
});

describe("a pod with affinity", () => {
  const term = { labelSelector: { matchLabels: { app: "web" } }, topologyKey: "zone" };
  const nodes = [zone("a", "east"), zone("b", "west")];

  it("is near to the pods that it wants", () => {
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    expect(decide(web({ affinity }), nodes, [on("b", "other")])).toBe("b");
  });

  it("may be the first of its group", () => {
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    expect(decide(web({ affinity }), nodes)).toMatch(/^[ab]$/);
    const stranger = pod("new", { spec: { affinity } });
    expect(decide(stranger, nodes)).toBe(
      "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.",
    );
  });

  it("stays away from the pods that it avoids, and from those that avoid it", () => {
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    expect(decide(web({ affinity }), nodes, [on("a", "other")])).toBe("b");
    expect(decide(web({}), nodes, [on("a", "other", {}, { affinity })])).toBe("b");
    const message = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.";
    expect(decide(web({ affinity }), nodes, [on("a", "x"), on("b", "y")])).toBe(message);
  });

  it("prefers the nodes that it prefers", () => {
    const preference = { matchExpressions: [{ key: "zone", operator: "In", values: ["west"] }] };
    const preferred = [{ weight: 1, preference }];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } };
    expect(decide(web({ affinity }), nodes)).toBe("b");
  });
});

describe("a pod that is to be spread", () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: "zone",
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: { app: "web" } },
  };
  const nodes = [zone("a", "east"), zone("b", "west")];

  it("goes where fewer are", () => {
    expect(decide(web({ topologySpreadConstraints: [constraint] }), nodes, [on("a", "one")])).toBe("b");
  });

  it("goes nowhere if every node breaks the rule", () => {
    const bare = node("c");
    const full = zone("b", "west");
    const cordoned = { ...full, spec: { unschedulable: true } };
    const spread = web({ topologySpreadConstraints: [constraint] });
    expect(decide(spread, [zone("a", "east"), cordoned, bare], [on("a", "one")])).toBe(
      "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, " +
        "1 node(s) didn't match pod topology spread constraints (missing required label), 1 node(s) were unschedulable.",
    );
  });
});

describe("of several nodes", () => {
  it("the one with more free resources is chosen", () => {
    const busy = on("a", "busy", {}, { containers: cpu("3") });
    expect(decide(web({}), [node("a"), node("b")], [busy])).toBe("b");
  });

  it("the one with fewer pods of the same controller is chosen", () => {
    const ownerReferences = [
      { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "rs", controller: true },
    ];
    const sibling = pod("old", { readyFor: 1, metadata: { ownerReferences }, spec: { nodeName: "a" } });
    const fresh = pod("new", { metadata: { ownerReferences } });
    expect(decide(fresh, [node("a"), node("b")], [sibling])).toBe("b");
  });

  it("one whose taint is tolerated is as good as another", () => {
    const tainted = node("a", { spec: { taints: [{ key: "gpu", value: "yes", effect: "NoSchedule" }] } });
    const tolerations = [{ key: "gpu", value: "yes", effect: "NoSchedule" }];
    expect(decide(web({ tolerations }), [tainted])).toBe("a");
  });
});

it("counts pods whose binding is not visible yet", () => {
  const waiting = pod("waiting", { spec: { containers: cpu("3") } });
  const assumed = new Map([[waiting.metadata.uid, "a"]]);
  const snapshot = takeSnapshot([node("a")], [waiting], new Map(), assumed);
  expect(decideNode(web({ containers: cpu("2") }), snapshot, 0)).toEqual({
    message: "0/1 nodes are available: 1 Insufficient cpu.",
  });
});
