import { VirtualClock } from "@tenure/base/virtual-clock";
import { ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import type { Gate } from "./gate.ts";
import { takeOverEachTerm } from "./take-over.ts";

function setUp(fails = false) {
  const clock = new VirtualClock();
  const election = new ScriptedElection({ clock });
  const taken: bigint[] = [];
  const errors: string[] = [];
  const gate: Gate = {
    name: "slice",
    takeOver: async ({ token }) => {
      taken.push(BigInt(token));
      if (fails) throw new Error("forbidden");
    },
    open: async () => {},
    close: async () => {},
  };
  const plain: Gate = { name: "file", open: async () => {}, close: async () => {} };
  const stop = takeOverEachTerm(election, {
    gates: [gate, plain],
    clock,
    onError: (error) => errors.push(error.message),
  });
  return { clock, election, taken, errors, stop };
}

it("takes over if the work is not ready soon, in every term", async () => {
  const { clock, election, taken } = setUp();
  election.win({ token: 7n });
  await clock.pass(249);
  expect(taken).toEqual([]);
  await clock.pass(1);
  expect(taken).toEqual([7n]);
  election.end();
  election.win({ token: 9n });
  await clock.pass(250);
  expect(taken).toEqual([7n, 9n]);
});

it("leaves traffic to the successor if the term ends before that", async () => {
  const { clock, election, taken } = setUp();
  election.win({ token: 7n });
  election.askToStop();
  await clock.pass(1_000);
  expect(taken).toEqual([]);
});

it("reports a gate that fails, and stops when it is told to", async () => {
  const { clock, election, taken, errors, stop } = setUp(true);
  election.win({ token: 7n });
  await clock.pass(250);
  expect(errors).toEqual(["forbidden"]);
  election.end();
  stop();
  election.win({ token: 9n });
  await clock.pass(250);
  expect(taken).toEqual([7n]);
  expect(election.listeners).toBe(0);
});
