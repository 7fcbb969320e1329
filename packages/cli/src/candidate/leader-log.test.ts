import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election } from "@tenure/election";
import { ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import { logLeader } from "./leader-log.ts";

function newLog(options: Partial<Parameters<typeof logLeader>[2]> = {}) {
  const clock = new VirtualClock();
  const election = new ScriptedElection({ identity: "a", clock });
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { info: write("info"), warn: write("warn"), error: write("error"), close: async () => {} };
  const stop = logLeader(election as unknown as Election, log, { every: undefined, clock, ...options });
  return { clock, election, lines, stop };
}

it("logs an overrun", () => {
  const { election, lines } = newLog();
  election.emit("overrun", { term: election.win() });
  expect(lines.at(-1)).toBe(
    "error a: the term ended but its work has not stopped; another replica may start now",
  );
});

it("logs no overrun if the work was killed while this process was frozen", () => {
  const { election, lines } = newLog({ isWorking: () => false });
  election.emit("overrun", { term: election.win() });
  expect(lines.filter((line) => line.startsWith("error"))).toEqual([]);
});

it("logs who leads at the interval, until it is stopped", async () => {
  const { clock, election, lines, stop } = newLog({ every: "10s" });
  election.follow("b");
  await clock.pass(20_000);
  stop();
  await clock.pass(20_000);
  expect(lines).toEqual([
    "info a: new leader elected: b",
    "info a: the leader is b",
    "info a: the leader is b",
  ]);
});

it("logs an error that repeats less and less often", async () => {
  const { clock, election, lines } = newLog();
  for (let i = 0; i < 8; i++) {
    election.emit("error", { error: new Error("no answer") });
    await clock.pass(1_000);
  }
  expect(lines).toEqual([
    "warn a: no answer",
    "warn a: no answer (1 more since the last message)",
    "warn a: no answer (3 more since the last message)",
  ]);
});

it("logs all rights that are missing after a denied request", async () => {
  const { clock, election, lines } = newLog({ missingRights: async () => "may not get, update leases" });
  const failure = { kind: "denied", message: "may not get leases" } as const;
  election.emit("error", { error: new Error(failure.message), failure });
  await clock.pass(0);
  expect(lines).toEqual(["warn a: may not get leases", "warn a: may not get, update leases"]);
});
