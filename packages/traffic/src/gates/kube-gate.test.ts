/** How a gate that writes to the API server deals with trouble. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { KubeError, type KubeErrorCode } from "@tenure/kube";
import { expect, it } from "vitest";
import { prepareGates } from "../in-traffic.ts";
import { isTransient, KubeGate } from "./kube-gate.ts";

function newGate(request: (request: { timeoutMs?: number }) => Promise<unknown>) {
  const clock = new VirtualClock();
  const backend = {
    prepare: async (call: (request: never) => Promise<unknown>) => void (await call({} as never)),
    open: async () => {},
    check: async () => undefined,
    takeOver: async () => {},
    close: async () => {},
    takeOver: async () => {},
  };
  const client = { request: request as never };
  return { clock, gate: new KubeGate("label", backend, { client, namespace: "ns", clock }) };
}

const failing = (code: KubeErrorCode) =>
  newGate(async () => Promise.reject(new KubeError(code, `${code}: why`)));

it("reports the real cause of a failure that lasts, not its own time limit", async () => {
  const timeouts: number[] = [];
  const { clock, gate } = newGate(async ({ timeoutMs = 0 }) => {
    timeouts.push(timeoutMs);
    throw new KubeError("Unreachable", "connection refused");
  });
  const failed = gate.prepare().catch((error: Error) => error.message);
  await clock.pass(15_000);
  expect(await failed).toBe("Cannot open the gate label: connection refused");
  expect(timeouts.length).toBeGreaterThan(5);
  expect(Math.min(...timeouts)).toBeGreaterThanOrEqual(250);
});

it.each<[KubeErrorCode, boolean]>([
  ["Unreachable", true],
  ["Timeout", true],
  ["ServerError", true],
  ["Forbidden", false],
  ["NotFound", false],
])("a failure with %s is transient: %s", async (code, expected) => {
  const { clock, gate } = failing(code);
  const failed = prepareGates([gate]).catch((error: unknown) => error);
  await clock.pass(15_000);
  expect(isTransient(await failed)).toBe(expected);
});

it("failures of several gates are transient only if each is", async () => {
  const [a, b, c] = [failing("Unreachable"), failing("Timeout"), failing("Forbidden")];
  const preparing = (...gates: (typeof a)[]) =>
    prepareGates(gates.map(({ gate }) => gate)).catch((error: unknown) => error);
  const both = preparing(a, b);
  for (const { clock } of [a, b]) await clock.pass(15_000);
  expect(isTransient(await both)).toBe(true);
  const mixed = preparing(a, c);
  for (const { clock } of [a, c]) await clock.pass(15_000);
  expect(isTransient(await mixed)).toBe(false);
});
