/** Candidates of different priority, and candidates that do not fail over. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import { expect, it } from "vitest";
import { Election } from "./election.ts";
import type { ElectionOptions } from "./options.ts";

function newElections(...given: (Partial<ElectionOptions> & { readonly identity: string })[]) {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock);
  const leading: string[] = [];
  const elections = given.map((options) => {
    const shutdown = new AbortController();
    const election = new Election({ lock: server.link(), clock, onOverrun: "report", ...options });
    const run = election.run(
      async ({ signal }) => {
        leading.push(election.identity);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
      { signal: shutdown.signal },
    );
    const end = async () => {
      shutdown.abort();
      await clock.pass(100);
      await run;
    };
    return { election, end };
  });
  return { clock, server, leading, elections };
}

it("the candidate with the highest priority takes a lock that is released", async () => {
  const { clock, leading, elections } = newElections(
    { identity: "first" },
    { identity: "low", priority: 2 },
    { identity: "high", priority: 9 },
  );
  await clock.pass(1_000);
  expect(leading).toEqual(["first"]);
  await elections[0]?.end();
  await clock.pass(1_000);
  expect(leading).toEqual(["first", "high"]);
  await elections[2]?.end();
  await clock.pass(2_500);
  expect(leading).toEqual(["first", "high", "low"]);
  await elections[1]?.end();
});

it("a candidate that does not fail over never takes a free lock", async () => {
  const { clock, leading, elections } = newElections(
    { identity: "a" },
    { identity: "spare", noFailover: true },
  );
  await clock.pass(1_000);
  await elections[0]?.end();
  await clock.pass(600_000);
  expect(leading).toEqual(["a"]);
  expect(elections[1]?.election.leader).toBeUndefined();
  await elections[1]?.end();
});
