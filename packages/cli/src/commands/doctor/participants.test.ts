import { describe, expect, it } from "vitest";
import { deploymentOf } from "../../testing/doctor-facts.ts";
import { accountOf, rulesFor, workloadsOf } from "./participants.ts";
import type { Pod } from "./pods.ts";
import type { Workload } from "./workload.ts";

const workload = (name: string, args: string[] = [], more: Partial<Workload> = {}): Workload => {
  const { spec } = deploymentOf([{ args }]);
  return {
    kind: "Deployment",
    metadata: { name },
    spec: { ...spec, selector: { matchLabels: { app: name } } },
    ...more,
  };
};
const pod = (name: string, metadata = {}, spec: Partial<Pod["spec"]> = {}): Pod => ({
  metadata: { name, ...metadata },
  spec: { containers: [], ...spec },
});
const ownedBy = (kind: string, name: string, labels = {}) => ({
  labels,
  ownerReferences: [{ kind, name, controller: true }],
});
const staticPod = (name: string, ...args: string[]) =>
  pod(`${name}-node-a`, ownedBy("Node", "node-a"), {
    hostNetwork: true,
    nodeName: "node-a",
    containers: [{ name, command: [name, ...args] }],
  });

describe("the workloads of an election", () => {
  const found = (holder: string, workloads: Workload[], pods: Pod[] = []) =>
    workloadsOf("billing", holder, { workloads, pods, denials: [] }).map(
      ({ kind, metadata }) => `${kind} ${metadata.name}`,
    );

  it.each([
    ["by a flag of tenure", "", [workload("web", ["run", "--lease-lock-name=billing"])], []],
    ["by a flag of client-go", "", [workload("web", ["--leader-election-id=billing"])], []],
    [
      "by the owners of the holder's pod",
      "web-5d-x_77",
      [workload("web", [], { kind: "Deployment" })],
      [pod("web-5d-x", ownedBy("ReplicaSet", "web-5d", { "pod-template-hash": "5d", app: "other" }))],
    ],
    ["by the labels of the holder's pod", "p", [workload("web")], [pod("p", { labels: { app: "web" } })]],
    ["by the name of a pod that is gone", "web-7d9f8c-xk2lp", [workload("web")], []],
  ] as const)("%s", (_how, holder, workloads, pods) => {
    expect(found(holder, [...workloads, workload("other")], [...pods])).toEqual(["Deployment web"]);
  });

  it("also a StatefulSet, a DaemonSet, and the owner of another kind", () => {
    for (const kind of ["StatefulSet", "DaemonSet"])
      expect(found("db-0", [workload("db", [], { kind })], [pod("db-0", ownedBy(kind, "db"))])).toEqual([
        `${kind} db`,
      ]);
    expect(found("r-1", [], [pod("r-1", ownedBy("Rollout", "r"))])).toEqual(["Rollout r"]);
    expect(found("bare", [], [pod("bare")])).toEqual(["Pod bare"]);
  });

  it("on the host of the holder, only the component with the name of the election", () => {
    const pods = [
      staticPod("billing", "--leader-elect=true"),
      staticPod("kube-scheduler", "--leader-elect=true"),
      staticPod("etcd"),
    ];
    expect(found("node-a_5c", [], pods)).toEqual(["Pod billing-node-a"]);
  });

  it("not one that names another election", () => {
    expect(found("web-7d9f8c-xk2lp", [workload("web", ["--lease-lock-name=other"])])).toEqual([]);
  });
});

describe("the rights of a candidate", () => {
  const verbs = (args: string[]) =>
    rulesFor("billing", ["lease"], [{ name: "app", args }]).map((rule) => rule.verbs);
  it("on tenure it watches its lock", () =>
    expect(verbs(["run", "--lease-lock-name=billing"])).toEqual([["create"], ["get", "update", "watch"]]));
  it("on client-go it does not", () =>
    expect(verbs(["--leader-elect", "--leader-election-id=billing"])).toEqual([
      ["create"],
      ["get", "update"],
    ]));
  it("it need not create a ConfigMap that exists", () => {
    const container = { name: "app", args: ["run", "--leader-configmap=who"] };
    const of = (...existing: string[]) =>
      rulesFor("billing", [], [container], true, existing).flatMap((rule) => rule.verbs);
    expect(of()).toEqual(["create", "get", "update"]);
    expect(of("who")).toEqual(["get", "update"]);
  });
  it("are those of its service account, unless it has a kubeconfig", () => {
    expect(accountOf(workload("web"), "billing", "prod")).toBe("system:serviceaccount:prod:default");
    expect(accountOf(workload("web", ["--kubeconfig=/etc/k"]), "billing", "prod")).toBeUndefined();
  });
});
