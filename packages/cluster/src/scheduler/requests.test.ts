import { expect, it } from "vitest";
import { pod } from "../testing/fixtures.ts";
import { podRequests } from "./requests.ts";

const container = (cpu: string, more = {}) => ({ name: "c", resources: { requests: { cpu } }, ...more });
const sidecar = { restartPolicy: "Always" };

it.each([
  ["the sum of its containers", { containers: [container("1"), container("2")] }, 3000],
  [
    "its largest init container, if that is more",
    { containers: [container("1")], initContainers: [container("5")] },
    5000,
  ],
  [
    "sidecars with the containers",
    { containers: [container("1")], initContainers: [container("2", sidecar)] },
    3000,
  ],
  [
    "an init container with the sidecars before it",
    { containers: [container("1")], initContainers: [container("2", sidecar), container("3")] },
    5000,
  ],
  ["its overhead too", { containers: [container("1")], overhead: { cpu: "250m" } }, 1250],
])("a pod requests %s", (_name, spec, expected) => {
  expect(podRequests(pod("a", { spec })).get("cpu")).toBe(expected);
});
