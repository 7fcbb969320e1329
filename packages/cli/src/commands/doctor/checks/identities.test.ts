import { expect, it } from "vitest";
import { deploymentOf, factsWith, findingsIn, ledBy } from "../../../testing/doctor-facts.ts";
import type { Pod } from "../pods.ts";
import { checkIdentities } from "./identities.ts";

const onNode = (name: string, nodeName: string): Pod => ({
  metadata: { name, labels: { app: "billing" } },
  spec: { containers: [], hostNetwork: true, nodeName },
});
const check = (holder: string, pods: Pod[], env: object[] = []) =>
  findingsIn(
    checkIdentities([deploymentOf([{ env: env as [] }])], factsWith({ pods }, { state: ledBy(holder) })),
  );

it("finds two pods with hostNetwork on the node whose name is the identity", () => {
  expect(check("node-a", [onNode("a", "node-a"), onNode("b", "node-a"), onNode("c", "node-b")])).toEqual([
    '2 replicas have the identity "node-a" (pod a, pod b): each takes the lease of the others for its own',
  ]);
});

it("accepts one pod on a node, and the random part of client-go", () => {
  expect(check("node-a", [onNode("a", "node-a"), onNode("b", "node-b")])).toEqual([]);
  expect(check("node-a_3f2c", [onNode("a", "node-a"), onNode("b", "node-a")])).toEqual([]);
});

it("finds a fixed identity before the first pod has started", () => {
  expect(check("", [], [{ name: "POD_NAME", value: "billing" }])[0]).toMatch(/^3 replicas have the identity/);
});
