import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { describe, expect, it } from "vitest";
import type { SupervisedTerm } from "./election-seam.ts";
import type { SupervisedGate } from "./gates.ts";
import { closeWithinMs, Gates } from "./gates.ts";

const term = {} as SupervisedTerm;

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
  } satisfies SupervisedGate & Record<string, unknown>;
  const gates = new Gates([gate], clock, (error) => errors.push(error.message));
  return { clock, log, errors, held, gate, gates };
}

describe("Gates", () => {
  it("open, are re-checked while open, and close once", async () => {
    const { gates, log } = newGates();
    gates.renewed(term);
    gates.open(term);
    await settle();
    gates.renewed(term);
    await gates.close();
    await gates.close();
    gates.renewed(term);
    expect(log).toEqual(["opening", "open", "renewed", "close"]);
  });

  it("close a gate at once that is still opening, and again when it is open", async () => {
    const { gates, log, gate, held } = newGates();
    gate.isHeld = true;
    gates.open(term);
    await settle();
    const closing = gates.close();
    expect(log).toEqual(["opening", "close"]);
    held[0]?.();
    await closing;
    expect(log).toEqual(["opening", "close", "open", "close"]);
  });

  it("open again only after the last close", async () => {
    const { gates, log, gate, held } = newGates();
    gate.isHeld = true;
    gates.open(term);
    await settle();
    void gates.close();
    gates.open(term);
    await settle();
    expect(log).toEqual(["opening", "close"]);
    gate.isHeld = false;
    held[0]?.();
    await settle();
    expect(log.slice(-2)).toEqual(["opening", "open"]);
  });

  it("report failures and go on", async () => {
    const { gates, errors, gate } = newGates();
    gate.fails = "open";
    gates.open(term);
    await settle();
    gate.fails = "renewed";
    gates.renewed(term);
    await settle();
    expect(errors).toEqual([
      "Cannot open the gate label: forbidden",
      "Cannot re-check the gate label: it is a bug",
    ]);
  });

  it("wait a limited time for a gate that does not close", async () => {
    const { gates, errors, gate, clock } = newGates();
    gate.fails = "close";
    gates.open(term);
    await settle();
    let isClosed = false;
    void gates.close().then(() => {
      isClosed = true;
    });
    await clock.pass(closeWithinMs - 1);
    expect(isClosed).toBe(false);
    await clock.pass(1);
    expect(isClosed).toBe(true);
    expect(errors).toHaveLength(1);
  });

  it("do not close a gate that was never opened", async () => {
    const { gates, log } = newGates();
    await gates.close();
    expect(log).toEqual([]);
  });
});
