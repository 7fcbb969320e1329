import { expect, it } from "vitest";
import { app, podWith } from "../testing/pod-player.ts";
import { resourceValue } from "./resource-amount.ts";

it.each([
  ["limits.cpu", undefined, "1"],
  ["limits.cpu", "1m", "300"],
  ["requests.memory", "1Mi", "65"],
  ["limits.memory", "1Mi", "2048"],
  ["requests.ephemeral-storage", undefined, "0"],
])("%s in units of %s is %s", (resource, divisor, expected) => {
  const resources = { limits: { cpu: "300m" }, requests: { memory: "64.5Mi" } };
  const pod = podWith({ containers: [app("app", { resources })] });
  const selector = { resource, ...(divisor ? { divisor } : {}) };
  expect(resourceValue(pod, selector, "app", { memory: "2Gi" })).toBe(expected);
});
