import { sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election, Term as ServedTerm } from "@tenure/election";
import { MemoryServer, newReplica, recordOf } from "@tenure/testkit";
import { expect, it } from "vitest";
import { Term } from "./term.ts";
import { termsOf } from "./terms.ts";
import { aborted } from "./testing/replicas.ts";

/** What happened to the lock and in the loop, without renewals. */
function logOf({ log }: MemoryServer): string[] {
  return log.filter((line) => !line.startsWith("renewed"));
}

function newLoop(body: (term: ServedTerm, turn: number) => Promise<"break" | undefined>) {
  const server = new MemoryServer(new VirtualClock());
  const replica = newReplica({ server });
  const shutdown = new AbortController();
  const loop = async (election: Election) => {
    let turn = 0;
    for await (const term of election.terms({ signal: shutdown.signal })) {
      server.log.push("body");
      turn += 1;
      if ((await body(term, turn)) === "break") break;
      server.log.push("body ended");
    }
    server.log.push("after the loop");
  };
  let outcome = "loops";
  const done = loop(replica.election).then(
    () => {
      outcome = "ended";
    },
    (error: Error) => {
      outcome = error.message;
    },
  );
  return { ...replica, server, shutdown, done, outcome: () => outcome };
}

it("serves one term for each turn, and hands each over after the body", async () => {
  const { clock, server, events, shutdown, done } = newLoop(async (term, turn) => {
    if (turn < 3) await sleep(clock, 1_000);
    else await aborted(term.signal);
    return undefined;
  });
  await clock.pass(10_000);
  const turn = ["won by a", "body", "body ended", "released"];
  expect(logOf(server)).toEqual([...turn, ...turn, "won by a", "body"]);
  shutdown.abort();
  await clock.pass(10);
  await done;
  expect(logOf(server).slice(-3)).toEqual(["body ended", "released", "after the loop"]);
  expect(events.filter((event) => event.startsWith("ended"))).toEqual([
    "ended work-ended released",
    "ended work-ended released",
    "ended shutdown released",
  ]);
});

it("is left by break only after the lease has been released", async () => {
  const { clock, server, done, election } = newLoop(async () => "break");
  await clock.pass(100);
  await done;
  expect(logOf(server)).toEqual(["won by a", "body", "released", "after the loop"]);
  await clock.pass(60_000);
  expect([server.holder, election.term]).toEqual(["", undefined]);
});

it("is left by an error in the body only after the lease has been released", async () => {
  const { clock, server, outcome } = newLoop(() => Promise.reject(new Error("boom")));
  await clock.pass(100);
  expect([outcome(), logOf(server)]).toEqual(["boom", ["won by a", "body", "released"]]);
});

it("keeps the lease while a body finishes after its signal has aborted", async () => {
  const { clock, server, election } = newLoop(async (term) => {
    await aborted(term.signal);
    await sleep(clock, 5_000);
    return undefined;
  });
  await clock.pass(10);
  election.stepDown();
  await clock.pass(4_900);
  expect(server.holder).toBe("a");
  await clock.pass(200);
  expect(logOf(server).slice(0, 4)).toEqual(["won by a", "body", "body ended", "released"]);
});

it("waits for its tasks, too", async () => {
  const { clock, server } = newLoop(async (term) => {
    void term.run(() => sleep(clock, 5_000));
    return "break";
  });
  await clock.pass(4_900);
  expect(logOf(server)).toEqual(["won by a", "body"]);
  await clock.pass(200);
  expect(logOf(server).slice(2)).toEqual(["released", "after the loop"]);
});

it("does not start with a signal that has aborted, and ends without a term when the signal aborts", async () => {
  const { clock, server, shutdown, done } = newLoop(() => expect.unreachable());
  server.put(recordOf("b"));
  shutdown.abort();
  await clock.pass(10);
  await done;
  const replica = newReplica({ server });
  for await (const _ of replica.election.terms({ signal: AbortSignal.abort() })) expect.unreachable();
  expect(server.holder).toBe("b");
});

it("throws what ends the run: here, that the election is already running", async () => {
  const { clock, run, outcome, server } = newLoop(async (term) => {
    await aborted(term.signal);
    return undefined;
  });
  await clock.pass(10);
  await expect(run()).rejects.toMatchObject({ code: "AlreadyRunning" });
  expect([outcome(), server.holder]).toEqual(["loops", "a"]);
  const second = newReplica({ server });
  second.run();
  await expect(second.election.terms().next()).rejects.toMatchObject({ code: "AlreadyRunning" });
});

it.each<[string, (term: Term) => void]>([
  ["whose time is over", (term) => term.close()],
  ["that is ending", (term) => term.abort("shutdown")],
])("skips a term %s before the body can start", async (_what, end) => {
  const clock = new VirtualClock();
  const term = new Term("a", 1n, clock, () => ({
    monoMs: clock.now().monoMs + 1,
    wallMs: clock.now().wallMs + 1,
  }));
  end(term);
  const terms = termsOf(async (work) => void (await work(term)), undefined);
  expect(await terms.next()).toEqual({ done: true, value: undefined });
});
