import { describe, expect, it } from "vitest";
import { isIdentityOf, matches, ownerOf, type Pod, podsOnHost, unmanaged } from "./pods.ts";
import type { Workload } from "./workload.ts";

const pod = (name: string, more: Partial<Pod["metadata"]> = {}, spec: Partial<Pod["spec"]> = {}): Pod => ({
  metadata: { name, ...more },
  spec: { containers: [], ...spec },
});
const ownedBy = (kind: string, name: string, labels = {}) => ({
  labels,
  ownerReferences: [{ kind, name, controller: true }],
});
const long = "a".repeat(70);

describe("the identity of a pod", () => {
  it.each([
    ["its name", pod("web-1"), "web-1", true],
    ["its name and the random part of client-go", pod("web-1"), "web-1_5e21-9c", true],
    ["its host name", pod("web-1", {}, { hostname: "alpha" }), "alpha_77", true],
    ["its name as the kubelet cuts it", pod(long), long.slice(0, 63), true],
    ["the name of another pod that begins in the same way", pod("web-1"), "web-10", false],
  ])("%s", (_what, of, identity, is) => expect(isIdentityOf(of, identity)).toBe(is));

  it("is the name of the node with hostNetwork", () => {
    const onHost = pod("kcm-node-a", {}, { hostNetwork: true, nodeName: "node-a" });
    const inside = pod("web-1", {}, { nodeName: "node-a" });
    expect(podsOnHost([onHost, inside], "node-a_3f")).toEqual([onHost]);
    expect(podsOnHost([onHost], "node-ab")).toEqual([]);
  });
});

describe("the owner of a pod", () => {
  it.each([
    [ownedBy("ReplicaSet", "web-5d", { "pod-template-hash": "5d" }), { kind: "Deployment", name: "web" }],
    [ownedBy("ReplicaSet", "bare"), { kind: "ReplicaSet", name: "bare" }],
    [ownedBy("StatefulSet", "db"), { kind: "StatefulSet", name: "db" }],
    [ownedBy("Node", "node-a"), undefined],
    [{}, undefined],
  ])("%j", (metadata, owner) => expect(ownerOf(pod("x", metadata))).toEqual(owner));

  it("makes a workload of pods that no known workload manages, one for each owner", () => {
    const known: Workload = {
      kind: "StatefulSet",
      metadata: { name: "db" },
      spec: { template: { spec: { containers: [] } } },
    };
    const pods = [
      pod("db-0", ownedBy("StatefulSet", "db")),
      pod("job-1", ownedBy("Job", "job")),
      pod("job-2", ownedBy("Job", "job")),
      pod("bare"),
      { ...pod("ended"), status: { phase: "Succeeded" } },
    ];
    const found = unmanaged(pods, [known]).map(({ kind, metadata, spec }) => [
      kind,
      metadata.name,
      spec.replicas,
    ]);
    expect(found).toEqual([
      ["Job", "job", 2],
      ["Pod", "bare", 1],
    ]);
  });
});

it.each([
  [{ matchLabels: { app: "web" } }, true],
  [{ matchLabels: { app: "db" } }, false],
  [{ matchExpressions: [{ key: "app", operator: "In", values: ["web", "api"] }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] }, false],
  [{ matchExpressions: [{ key: "app", operator: "Exists" }] }, true],
  [{ matchExpressions: [{ key: "app", operator: "DoesNotExist" }] }, false],
  [{}, false],
])("the selector %j", (selector, is) => expect(matches(selector, { app: "web" })).toBe(is));
