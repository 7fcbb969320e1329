import { Emitter } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election, ElectionEvents, Term } from "@tenure/election";
import { expect, it } from "vitest";
import { logLeader } from "./leader-log.ts";

function newLog(options: Partial<Parameters<typeof logLeader>[2]> = {}) {
  const clock = new VirtualClock();
  const events = new Emitter<ElectionEvents>(() => {});
  const election = {
    identity: "a",
    leader: "b",
    on: events.on.bind(events),
  } as unknown as Election;
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { info: write("info"), warn: write("warn"), error: write("error"), close: async () => {} };
  const stop = logLeader(election, log, { every: undefined, clock, ...options });
  const overrun = () => events.emit("overrun", { term: {} as Term });
  const fail = (event: ElectionEvents["error"]) => events.emit("error", event);
  return { clock, lines, stop, overrun, fail };
}

it("logs an overrun", () => {
  const { overrun, lines } = newLog();
  overrun();
  expect(lines.at(-1)).toBe(
    "error a: the term ended but its work has not stopped; another replica may start now",
  );
});

it("logs no overrun if the work was killed while this process was frozen", () => {
  const { overrun, lines } = newLog({ isWorking: () => false });
  overrun();
  expect(lines).toEqual([]);
});

it("logs who leads at the interval, until it is stopped", async () => {
  const { clock, lines, stop } = newLog({ every: "10s" });
  await clock.pass(20_000);
  stop();
  await clock.pass(20_000);
  expect(lines).toEqual(["info a: the leader is b", "info a: the leader is b"]);
});

it("logs an error that repeats less and less often", async () => {
  const { clock, fail, lines } = newLog();
  for (let i = 0; i < 8; i++) {
    fail({ error: new Error("no answer") });
    await clock.pass(1_000);
  }
  expect(lines).toEqual([
    "warn a: no answer",
    "warn a: no answer (1 more since the last message)",
    "warn a: no answer (3 more since the last message)",
  ]);
});

it("logs all rights that are missing after a denied request", async () => {
  const { clock, fail, lines } = newLog({ missingRights: async () => "may not get, update leases" });
  const failure = { kind: "denied", message: "may not get leases" } as const;
  fail({ error: new Error(failure.message), failure });
  await clock.pass(0);
  expect(lines).toEqual(["warn a: may not get leases", "warn a: may not get, update leases"]);
});
