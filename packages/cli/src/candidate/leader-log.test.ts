import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election } from "@tenure/election";
import { ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import { logLeader } from "./leader-log.ts";

function newLog(options: { isWorking?: () => boolean; every?: string } = {}) {
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
