import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { Gate, GateTerm } from "./gate.ts";
import { GateGroup } from "./gate-group.ts";

const term = {} as GateTerm;

const closeTimeoutMs = 5_000;

function newGates() {
  const clock = new VirtualClock();
  const log: string[] = [];
  const errors: string[] = [];
  const held: (() => void)[] = [];
  const gate = {
    name: "label",
    isHeld: false,
    fails: "",
    async open() {
      log.push("opening");
      if (this.isHeld) await new Promise<void>((resolve) => held.push(resolve));
      if (this.fails === "open") throw new Error("forbidden");
      log.push("open");
    },
    renewed() {
      log.push("renewed");
      if (this.fails === "renewed") throw new Error("it is a bug");
    },
    async close() {
      log.push("close");
      if (this.fails === "close") await new Promise(() => {});
    },
  } satisfies Gate & Record<string, unknown>;
  const gates = new GateGroup([gate], {
    clock,
    closeTimeoutMs,
    onError: (error) => errors.push(error.message),
  });
  return { clock, log, errors, held, gate, gates };
}

describe("GateGroup", () => {
  it("opens, checks gates at renewals while they are open, and closes once", async () => {
    const { gates, log } = newGates();
    gates.renewed(term);
    void gates.open(term);
    await settle();
    gates.renewed(term);
    await gates.close();
    await gates.close();
    gates.renewed(term);
    expect(log).toEqual(["opening", "open", "renewed", "close"]);
  });

  it("closes a gate at once that is still opening, and again when it is open", async () => {
    const { gates, log, gate, held } = newGates();
    gate.isHeld = true;
    void gates.open(term);
    await settle();
    const closing = gates.close();
    expect(log).toEqual(["opening", "close"]);
    held[0]?.();
    await closing;
    expect(log).toEqual(["opening", "close", "open", "close"]);
  });

  it("opens again only after the last close", async () => {
    const { gates, log, gate, held } = newGates();
    gate.isHeld = true;
    void gates.open(term);
    await settle();
    void gates.close();
    void gates.open(term);
    await settle();
    expect(log).toEqual(["opening", "close"]);
    gate.isHeld = false;
    held[0]?.();
    await settle();
    expect(log.slice(-2)).toEqual(["opening", "open"]);
  });

  it("rejects if a gate cannot open, and reports a gate that fails at a renewal", async () => {
    const { gates, errors, gate } = newGates();
    gate.fails = "open";
    await expect(gates.open(term)).rejects.toThrow("Cannot open the gate label: forbidden");
    gate.fails = "renewed";
    gates.renewed(term);
    await settle();
    expect(errors).toEqual(["Cannot check the gate label: it is a bug"]);
  });

  it("waits a limited time for a gate that does not close", async () => {
    const { gates, errors, gate, clock } = newGates();
    gate.fails = "close";
    void gates.open(term);
    await settle();
    let isClosed = false;
    void gates.close().then(() => {
      isClosed = true;
    });
    await clock.pass(closeTimeoutMs - 1);
    expect(isClosed).toBe(false);
    await clock.pass(1);
    expect(isClosed).toBe(true);
    expect(errors).toEqual(["The gate label did not close within 5000 ms."]);
  });

  it("does not close a gate that was never opened", async () => {
    const { gates, log } = newGates();
    await gates.close();
    expect(log).toEqual([]);
  });
});
