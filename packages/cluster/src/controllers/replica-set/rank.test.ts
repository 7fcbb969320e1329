import { expect, it } from "vitest";
import type { Pod } from "../../client/objects.ts";
import { ago, nowMs, pod } from "../../testing/fixtures.ts";
import { rankForDeletion } from "./rank.ts";

const onNode = (nodeName: string) => ({ spec: { nodeName } });
const restarted = (restartCount: number) => ({ containerStatuses: [{ name: "main", restartCount }] });
const cost = (value: string) => ({ annotations: { "controller.kubernetes.io/pod-deletion-cost": value } });

it.each<[string, Pod, Pod]>([
  ["a pod without a node", pod("b"), pod("a", { readyFor: 9, ...onNode("n") })],
  ["a pending pod", pod("b", onNode("n")), pod("a", { ...onNode("n"), status: { phase: "Running" } })],
  [
    "a pod that is not ready",
    pod("b", { ...onNode("n"), status: { phase: "Running" } }),
    pod("a", { readyFor: 9, ...onNode("n") }),
  ],
  [
    "a pod with a lower cost",
    pod("b", { readyFor: 99, ...onNode("n"), metadata: cost("-5") }),
    pod("a", { readyFor: 9, ...onNode("n") }),
  ],
  [
    "a pod that is ready for a shorter time",
    pod("b", { readyFor: 2, ...onNode("n") }),
    pod("a", { readyFor: 99, ...onNode("n") }),
  ],
  [
    "a pod that restarted more often",
    pod("b", { readyFor: 9, ...onNode("n"), status: restarted(3) }),
    pod("a", { readyFor: 9, ...onNode("n"), status: restarted(1) }),
  ],
  [
    "a newer pod",
    pod("b", { readyFor: 9, ...onNode("n"), metadata: { creationTimestamp: ago(10) } }),
    pod("a", { readyFor: 9, ...onNode("n"), metadata: { creationTimestamp: ago(1000) } }),
  ],
])("%s goes first", (_name, first, second) => {
  expect(rankForDeletion([second, first], [], nowMs)[0]).toBe(first);
  expect(rankForDeletion([first, second], [], nowMs)[0]).toBe(first);
});

it("a pod on a node with more pods of the same workload goes first", () => {
  const crowded = [
    pod("b", { readyFor: 9, ...onNode("full") }),
    pod("c", { readyFor: 9, ...onNode("full") }),
  ];
  const alone = pod("a", { readyFor: 9, ...onNode("empty") });
  const [first] = rankForDeletion([alone, ...crowded], [alone, ...crowded], nowMs);
  expect(first?.spec.nodeName).toBe("full");
});
