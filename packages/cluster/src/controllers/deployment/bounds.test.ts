import { expect, it } from "vitest";
import { deployment } from "../../testing/fixtures.ts";
import { boundsOf } from "./bounds.ts";

it.each([
  [10, "25%", "25%", { maxSurge: 3, maxUnavailable: 2 }],
  [1, "25%", "25%", { maxSurge: 1, maxUnavailable: 0 }],
  [3, 0, 0, { maxSurge: 0, maxUnavailable: 1 }],
  [3, "0%", "10%", { maxSurge: 0, maxUnavailable: 1 }],
  [2, 0, 5, { maxSurge: 0, maxUnavailable: 2 }],
  [0, "100%", "100%", { maxSurge: 0, maxUnavailable: 0 }],
])("%i replicas with maxSurge %s and maxUnavailable %s", (replicas, maxSurge, maxUnavailable, expected) => {
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } };
  expect(boundsOf(deployment({ replicas, strategy }))).toEqual({ replicas, ...expected });
});

it("has no surge when it recreates", () => {
  expect(boundsOf(deployment({ strategy: { type: "Recreate" } }))).toMatchObject({
    maxSurge: 0,
    maxUnavailable: 0,
  });
});
