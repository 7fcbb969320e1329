import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { ScriptedElection } from "./scripted-election.ts";

function newElection() {
  const clock = new VirtualClock();
  const election = new ScriptedElection({ clock });
  const events: string[] = [];
  election.on("leader-changed", ({ leader }) => events.push(`leader ${leader}`));
  election.on("term-started", ({ term }) => events.push(`started ${BigInt(term.token)}`));
  election.on("renewed", () => events.push("renewed"));
  election.on("term-ended", ({ reason, released }) => events.push(`ended ${reason} ${released}`));
  return { clock, election, events };
}

it("runs the work of a term that the test wins, and releases the term when the work returns", async () => {
  const { clock, election, events } = newElection();
  const shutdown = new AbortController();
  const run = election.run(
    ({ signal }) => new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    { signal: shutdown.signal },
  );
  election.follow("b");
  const term = election.win({ lastsMs: 10_000 });
  expect([term.isValid(), term.remainingMs(), election.leader]).toEqual([true, 10_000, "a"]);
  await clock.pass(4_000);
  election.renew(10_000);
  expect(term.remainingMs()).toBe(10_000);
  shutdown.abort();
  await run;
  expect(events).toEqual([
    "leader b",
    "leader a",
    "started 1",
    "renewed",
    "leader undefined",
    "ended shutdown true",
  ]);
  expect(election.log).toEqual(["released", "run over"]);
  expect(term.isValid()).toBe(false);
});

it("does not release a term that is lost", async () => {
  const { clock, election, events } = newElection();
  const run = election.run(
    ({ expired }) => new Promise<void>((resolve) => expired.addEventListener("abort", () => resolve())),
  );
  const term = election.win();
  election.lose(500);
  expect([term.signal.aborted, term.lost.aborted, term.remainingMs()]).toEqual([true, true, 500]);
  await clock.pass(500);
  expect(term.isValid()).toBe(false);
  election.expire();
  election.endRun();
  await run;
  expect(events.at(-1)).toBe("ended renew-deadline false");
});

it("gives each term a higher token", () => {
  const { election } = newElection();
  const first = election.win();
  election.end();
  expect(BigInt(election.win().token)).toBeGreaterThan(BigInt(first.token));
});
