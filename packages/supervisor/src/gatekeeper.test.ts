import { describe, expect, it } from "vitest";
import type { Gate } from "./gate.ts";
import { closeWithinMs, Gatekeeper } from "./gatekeeper.ts";
import type { TermLike } from "./office.ts";
import { settle, VirtualClock } from "./testing/virtual-clock.ts";

const term = {} as TermLike;

function newKeeper() {
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
  const keeper = new Gatekeeper([gate], clock, (error) => errors.push(error.message));
  return { clock, log, errors, held, gate, keeper };
}

describe("Gatekeeper", () => {
  it("opens, re-checks while open, closes once", async () => {
    const { keeper, log } = newKeeper();
    keeper.renewed(term);
    keeper.open(term);
    await settle();
    keeper.renewed(term);
    await keeper.close();
    await keeper.close();
    keeper.renewed(term);
    expect(log).toEqual(["opening", "open", "renewed", "close"]);
  });

  it("closes at once what is still being opened, and again when it is open after all", async () => {
    const { keeper, log, gate, held } = newKeeper();
    gate.isHeld = true;
    keeper.open(term);
    await settle();
    const closing = keeper.close();
    expect(log).toEqual(["opening", "close"]);
    held[0]?.();
    await closing;
    expect(log).toEqual(["opening", "close", "open", "close"]);
  });

  it("opens anew only after the last close", async () => {
    const { keeper, log, gate, held } = newKeeper();
    gate.isHeld = true;
    keeper.open(term);
    await settle();
    void keeper.close();
    keeper.open(term);
    await settle();
    expect(log).toEqual(["opening", "close"]);
    gate.isHeld = false;
    held[0]?.();
    await settle();
    expect(log.slice(-2)).toEqual(["opening", "open"]);
  });

  it("reports what fails, and goes on", async () => {
    const { keeper, errors, gate } = newKeeper();
    gate.fails = "open";
    keeper.open(term);
    await settle();
    gate.fails = "renewed";
    keeper.renewed(term);
    await settle();
    expect(errors).toEqual([
      "Cannot open the gate label: forbidden",
      "Cannot re-check the gate label: it is a bug",
    ]);
  });

  it("does not wait for ever for one that does not close", async () => {
    const { keeper, errors, gate, clock } = newKeeper();
    gate.fails = "close";
    keeper.open(term);
    await settle();
    let isClosed = false;
    void keeper.close().then(() => {
      isClosed = true;
    });
    await clock.pass(closeWithinMs - 1);
    expect(isClosed).toBe(false);
    await clock.pass(1);
    expect(isClosed).toBe(true);
    expect(errors).toHaveLength(1);
  });

  it("closes what nobody opened without a word", async () => {
    const { keeper, log } = newKeeper();
    await keeper.close();
    expect(log).toEqual([]);
  });
});
