import { expect, it } from "vitest";
import { newReplica, untilAborted } from "./replica.ts";

it("leads, and hands over when it stops", async () => {
  const replica = newReplica();
  const done = replica.run();
  await replica.clock.until(() => replica.terms.length === 1);
  expect([replica.isDone, replica.server.holder]).toEqual([false, "a"]);
  replica.stop();
  await replica.clock.until(() => replica.isDone);
  await done;
  expect(replica.log).toEqual(["won by a", "a works", "a stopped", "released"]);
  expect(replica.events).toEqual(["started", "leader a", "ended shutdown released", "leader undefined"]);
});

it("competes with another replica on the same server", async () => {
  const first = newReplica();
  const second = newReplica({ identity: "b", server: first.server });
  first.run(untilAborted(first.server, 500));
  await first.clock.until(() => first.terms.length === 1);
  second.run();
  await first.clock.pass(1_000);
  first.stop();
  await first.clock.until(() => second.terms.length === 1);
  expect(first.log.slice(-5)).toEqual(["a works", "a stopped", "released", "won by b", "b works"]);
});

it("loses its term if its connection is cut, and reports errors as events", async () => {
  const replica = newReplica();
  replica.run();
  await replica.clock.until(() => replica.terms.length === 1);
  replica.lock.cut();
  await replica.clock.pass(10_000);
  expect(replica.terms[0]?.lost.aborted).toBe(true);
  expect(replica.events).toContain("ended renew-deadline");
  expect(replica.events).toContainEqual(expect.stringMatching(/^error Cannot renew lock in memory/));
});

it("does not fail a test that ignores the result of a run", async () => {
  const replica = newReplica();
  replica.lock.prepare = () => Promise.reject(new Error("no kubeconfig"));
  replica.run();
  await replica.clock.until(() => replica.isDone);
  await expect(replica.done).rejects.toThrow("no kubeconfig");
});
