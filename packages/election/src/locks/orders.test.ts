import { expect, it } from "vitest";
import { ordersFrom } from "./orders.ts";

it.each([
  [undefined, undefined],
  [{}, undefined],
  [{ "example.com/other": "true" }, undefined],
  [{ "tenure.dev/paused": "true" }, { paused: true }],
  [{ "tenure.dev/paused": "false" }, undefined],
  [{ "tenure.dev/paused": "" }, undefined],
  [{ "tenure.dev/step-down": "0" }, { stepDown: 0 }],
  [{ "tenure.dev/step-down": "12" }, { stepDown: 12 }],
  [{ "tenure.dev/step-down": "soon" }, undefined],
  [{ "tenure.dev/step-down": "-1" }, undefined],
  [{ "tenure.dev/transfer": "3/pod-b" }, { transfer: { transitions: 3, to: "pod-b" } }],
  [{ "tenure.dev/transfer": "3/pod/b" }, { transfer: { transitions: 3, to: "pod/b" } }],
  [{ "tenure.dev/transfer": "3/" }, undefined],
  [
    { "tenure.dev/transfer": "3/pod-b", "tenure.dev/transfer-accepted": "3/pod-b" },
    { transfer: { transitions: 3, to: "pod-b", accepted: true } },
  ],
  // An acceptance counts only for exactly the transfer that it names.
  [
    { "tenure.dev/transfer": "3/pod-c", "tenure.dev/transfer-accepted": "3/pod-b" },
    { transfer: { transitions: 3, to: "pod-c" } },
  ],
  [
    { "tenure.dev/transfer": "4/pod-b", "tenure.dev/transfer-accepted": "3/pod-b" },
    { transfer: { transitions: 4, to: "pod-b" } },
  ],
  [
    { "tenure.dev/transfer": "3/pod-b", "tenure.dev/transfer-accepted": "true" },
    { transfer: { transitions: 3, to: "pod-b" } },
  ],
  [{ "tenure.dev/transfer-accepted": "3/pod-b" }, undefined],
  [{ "tenure.dev/transfer": "pod-b" }, undefined],
  [{ "tenure.dev/transfer": "/pod-b" }, undefined],
  [{ "tenure.dev/transfer": "7" }, undefined],
  [
    { "tenure.dev/paused": "true", "tenure.dev/step-down": "1", "tenure.dev/transfer": "1/b" },
    { paused: true, stepDown: 1, transfer: { transitions: 1, to: "b" } },
  ],
])("%j is parsed as %j", (annotations, orders) => {
  expect(ordersFrom(annotations as Record<string, string> | undefined)).toEqual(orders);
});
