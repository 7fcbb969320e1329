/** The order of work, gates and lease, in complete elections on a virtual clock. */
import { sleep } from "@tenure/base";
import { newReplica } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import type { Gate } from "./gate.ts";
import { type InTrafficOptions, inTraffic, prepareGates } from "./in-traffic.ts";

interface FakeGate extends Gate {
  openMs: number;
  closeMs: number;
  fails: "open" | "close" | undefined;
}

/** One replica of an election in memory, with two gates that write to the log of the lock. */
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
  it("opens the gates after the work is ready, and closes them after it has stopped and before the release", async () => {
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

  it("closes the gates at once when the term is lost, while the work is still stopping", async () => {
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

  it("does not exceed the hard deadline of a lost term because a gate hangs", async () => {
    const { run, clock, lock, log, gates, events, errors } = replica();
    for (const gate of gates) gate.closeMs = 3_600_000;
    run();
    await clock.until(() => log.includes("slice open"));
    lock.cut();
    await clock.pass(60_000);
    expect(events).not.toContain("overrun");
    expect(errors[0]).toBe("The gate file did not close within 6000 ms.");
  });

  it("delays the release by at most the close time-out if a gate hangs, and reports the gate", async () => {
    const { run, clock, member, log, gates, errors } = replica();
    (gates[1] as FakeGate).closeMs = 3_600_000;
    run();
    await clock.until(() => log.includes("slice open"));
    const before = clock.now().monoMs;
    member.stop();
    await clock.until(() => member.isDone);
    expect(clock.now().monoMs - before).toBeLessThan(7_000);
    expect(log).toContain("released");
    expect(errors).toEqual(["The gate slice did not close within 6000 ms."]);
  });

  it("closes all gates and releases the lease if one gate cannot open", async () => {
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
      "released",
    ]);
    expect(events).toContain("error Cannot open the gate slice: slice is stuck");
  });

  it("keeps the gates closed if the work never becomes ready", async () => {
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

  it("checks the gates at every renewal, and not after the term", async () => {
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

  it("keeps the gates closed if the term ends before the work is ready", async () => {
    const { run, clock, member, log } = replica();
    run();
    await clock.until(() => log.includes("work starts"));
    member.stop();
    await clock.pass(200);
    expect(log).toContain("work ready");
    expect(log).not.toContain("file opening");
  });

  it("reports an error of a closing gate, and releases the lease anyway", async () => {
    const { run, clock, member, log, gates, errors } = replica();
    (gates[0] as FakeGate).fails = "close";
    run();
    await clock.until(() => log.includes("slice open"));
    member.stop();
    await clock.until(() => member.isDone);
    expect(errors).toEqual(["Cannot close the gate file: file is stuck"]);
    expect(log.at(-1)).toBe("released");
  });
});

describe("prepareGates", () => {
  const gate = (name: string, problem?: string): Gate => ({
    name,
    prepare: async () => {
      if (problem) throw new Error(problem);
    },
    open: async () => {},
    close: async () => {},
  });

  it("reports the problems of all gates together", async () => {
    await expect(
      prepareGates([gate("a", "no permission"), gate("b"), gate("c", "no directory")]),
    ).rejects.toThrow("no permission\nno directory");
    await expect(prepareGates([gate("a", "no permission"), gate("b")])).rejects.toThrow(/^no permission$/);
  });
});
