import type { Gate, GateTerm } from "@tenure/traffic";
import { expect, it } from "vitest";
import { countFailures } from "./count-gate-failures.ts";

function newGate() {
  const log: string[] = [];
  const inner: Gate = {
    name: "label of pod a",
    prepare: async () => void log.push("prepare"),
    open: () => Promise.reject(new Error("forbidden")),
    renewed: () => void log.push("renewed"),
    close: () => Promise.reject(new Error("no answer")),
  };
  const gate = countFailures(inner, "label", (kind, action) => log.push(`${kind} ${action} failed`));
  return { gate, inner, log };
}

const term = {} as GateTerm;

it("counts a gate that cannot open or close, and rejects with its error", async () => {
  const { gate, log } = newGate();
  await expect(gate.open(term)).rejects.toThrow("forbidden");
  await expect(gate.close()).rejects.toThrow("no answer");
  expect(log).toEqual(["label open failed", "label close failed"]);
});

it("counts nothing if the gate works", async () => {
  const { gate, inner, log } = newGate();
  Object.assign(inner, { open: async () => {}, close: async () => {} });
  await gate.prepare?.();
  await gate.open(term);
  gate.renewed?.(term);
  await gate.close();
  expect(log).toEqual(["prepare", "renewed"]);
  expect(gate.name).toBe("label of pod a");
});

it("keeps the file of the gate, which the watchdog removes if tenure is killed", () => {
  const { inner } = newGate();
  const gate = countFailures({ ...inner, path: "/tmp/ready" }, "ready-file", () => {});
  expect(gate.path).toBe("/tmp/ready");
});
