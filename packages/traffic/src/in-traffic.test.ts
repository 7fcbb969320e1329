/** The order in which work, gates and lease come and go. In virtual time, on whole elections. */

import { sleep } from "@tenure/base";
import { newReplica } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Gate } from "./gate.ts";
import { closeGates, type InTrafficOptions, inTraffic, openGates, prepareGates } from "./in-traffic.ts";
import { newTerm } from "./testing/cluster.ts";

interface FakeGate extends Gate {
  openMs: number;
  closeMs: number;
  fails: "open" | "close" | undefined;
}

/** One replica of an election in memory, with a gate that notes what it does in the lock's log. */
function replica() {
  const member = newReplica();
  const { log, clock, election } = member;
  const errors: string[] = [];
  const newGate = (name: string): FakeGate => ({
    name,
    openMs: 10,
    closeMs: 10,
    fails: undefined,
    async open() {
      log.push(`${name} opening`);
      await sleep(clock, this.openMs);
      if (this.fails === "open") throw new Error(`${name} is stuck`);
      log.push(`${name} open`);
    },
    renewed: () => void log.push(`${name} checked`),
    async close() {
      log.push(`${name} closing`);
      await sleep(clock, this.closeMs);
      if (this.fails === "close") throw new Error(`${name} is stuck`);
      log.push(`${name} closed`);
    },
  });
  const gates = [newGate("file"), newGate("slice")];
  const options = { election, gates, clock, onError: (error: Error) => void errors.push(error.message) };
  const run = (work: InTrafficOptions["work"] = untilAborted) => member.run(inTraffic({ ...options, work }));
  const untilAborted: InTrafficOptions["work"] = async (term, ready) => {
    log.push("work starts");
    await sleep(clock, 100);
    log.push("work ready");
    await ready();
    await new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve()));
    await sleep(clock, 500);
    log.push("work stopped");
  };
  const without = (...words: string[]) => log.filter((line) => !words.some((word) => line.includes(word)));
  return { ...member, member, gates, errors, run, log, without };
}

describe("work behind gates", () => {
  it("work ready, then into traffic; work stopped, then out of traffic, then the lease released", async () => {
    const { run, clock, member, log, without } = replica();
    run();
    await clock.until(() => log.includes("slice open"));
    member.stop();
    await clock.until(() => member.isDone);
    expect(without("renewed", "checked")).toEqual([
      "won by a",
      "work starts",
      "work ready",
      "file opening",
      "slice opening",
      "file open",
      "slice open",
      "work stopped",
      "file closing",
      "slice closing",
      "file closed",
      "slice closed",
      "released",
    ]);
  });

  it("a term that is lost closes the gates at once, while the work still stops", async () => {
    const { run, clock, lock, log, errors } = replica();
    run();
    await clock.until(() => log.includes("slice open"));
    lock.cut();
    await clock.until(() => log.includes("work stopped"), 60_000);
    const at = (line: string) => log.indexOf(line);
    expect(at("slice closed")).toBeGreaterThan(-1);
    expect(at("slice closed")).toBeLessThan(at("work stopped"));
    expect(log).not.toContain("released");
    expect(errors).toEqual([]);
  });

  it("a lost term does not run into its hard deadline because a gate hangs", async () => {
    const { run, clock, lock, log, gates, events, errors } = replica();
    for (const gate of gates) gate.closeMs = 3_600_000;
    run();
    await clock.until(() => log.includes("slice open"));
    lock.cut();
    await clock.pass(60_000);
    expect(events).not.toContain("overrun");
    expect(errors[0]).toBe("Cannot wait any longer for file to close: 6000 ms have passed.");
  });

  it("a gate that hangs holds the release up only so long, and is reported", async () => {
    const { run, clock, member, log, gates, errors } = replica();
    (gates[1] as FakeGate).closeMs = 3_600_000;
    run();
    await clock.until(() => log.includes("slice open"));
    const before = clock.now().monoMs;
    member.stop();
    await clock.until(() => member.isDone);
    expect(clock.now().monoMs - before).toBeLessThan(7_000);
    expect(log).toContain("released");
    expect(errors).toEqual(["Cannot wait any longer for slice to close: 6000 ms have passed."]);
  });

  it("a gate that cannot open ends the term: the others are closed again and the lease released", async () => {
    const { run, clock, log, gates, events } = replica();
    (gates[1] as FakeGate).fails = "open";
    run();
    await clock.until(() => log.includes("released"));
    expect(log.slice(log.indexOf("slice opening"))).toEqual([
      "slice opening",
      "file open",
      "file closing",
      "slice closing",
      "file closed",
      "slice closed",
      "file closing",
      "slice closing",
      "file closed",
      "slice closed",
      "released",
    ]);
    expect(events).toContain("error slice is stuck");
  });

  it("work that never says it is ready never gets traffic", async () => {
    const { run, clock, member, log } = replica();
    run(
      async (term) => new Promise<void>((resolve) => term.signal.addEventListener("abort", () => resolve())),
    );
    await clock.until(() => log.includes("won by a"));
    await clock.pass(5_000);
    member.stop();
    await clock.until(() => member.isDone);
    expect(log.some((line) => line.includes("open"))).toBe(false);
  });

  it("the gates are asked to check at every renewal, and not after the end", async () => {
    const { run, clock, member, log } = replica();
    run();
    await clock.until(() => log.includes("slice open"));
    await clock.pass(10_000);
    const renewals = log.filter((line) => line === "renewed by a").length;
    expect(renewals).toBeGreaterThan(1);
    expect(log.filter((line) => line === "slice checked").length).toBeGreaterThanOrEqual(renewals - 1);
    member.stop();
    await clock.until(() => member.isDone);
    expect(log.slice(log.indexOf("file closed"))).not.toContain("slice checked");
  });

  it("a term that ends before the work is ready leaves the gates closed", async () => {
    const { run, clock, member, log } = replica();
    run();
    await clock.until(() => log.includes("work starts"));
    member.stop();
    await clock.pass(200);
    expect(log).toContain("work ready");
    expect(log).not.toContain("file opening");
  });

  it("what a gate throws at closing is told, and the lease released all the same", async () => {
    const { run, clock, member, log, gates, errors } = replica();
    (gates[0] as FakeGate).fails = "close";
    run();
    await clock.until(() => log.includes("slice open"));
    member.stop();
    await clock.until(() => member.isDone);
    expect(errors).toEqual(["file is stuck"]);
    expect(log.at(-1)).toBe("released");
  });
});

describe("gates by hand", () => {
  const gate = (name: string, problem?: string): Gate => ({
    name,
    prepare: async () => {
      if (problem) throw new Error(problem);
    },
    open: async () => {},
    close: async () => {},
  });

  it("everything that would keep them closed is told at once", async () => {
    await expect(prepareGates([gate("a", "no right"), gate("b"), gate("c", "no folder")])).rejects.toThrow(
      "no right\nno folder",
    );
    await expect(prepareGates([gate("a", "no right"), gate("b")])).rejects.toThrow(/^no right$/);
  });

  it("open and close", async () => {
    await openGates([gate("a")], newTerm(1));
    await closeGates([gate("a")]);
  });
});
