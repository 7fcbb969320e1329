/** The shell around the machine of a coordinated candidate: what it asks of the API server, and what it does with what it hears. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Failure } from "@tenure/core";
import { expect, it } from "vitest";
import { Candidacy } from "./candidacy.ts";
import type { Coordination, CoordinationObserver } from "./lock.ts";

const candidate = {
  identity: "pod-b",
  version: "1.0.0",
  emulationVersion: "1.0.0",
  strategy: "OldestEmulationVersion",
} as const;
const denied: Failure = { kind: "denied", message: "you may not" };

function world(renew: () => Promise<Failure | undefined> = async () => undefined) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const failures: Failure[] = [];
  const watches: { observer: CoordinationObserver; signal: AbortSignal }[] = [];
  const coordination: Coordination = {
    isServed: async () => true,
    renew: ({ identity }) => {
      sent.push(`renew ${identity}`);
      return renew();
    },
    remove: async (identity) => {
      sent.push(`remove ${identity}`);
      return undefined;
    },
    watch: (_identity, observer, signal) => watches.push({ observer, signal }),
  };
  const onFailure = (failure: Failure) => failures.push(failure);
  const candidacy = new Candidacy({ coordination, candidate, clock, random: () => 0.5, onFailure });
  return { candidacy, clock, sent, failures, watches };
}

it("takes part once, however often it is started", async () => {
  const { candidacy, clock, sent, watches } = world();
  candidacy.start();
  candidacy.start();
  await clock.pass(100);
  expect(sent).toEqual(["renew pod-b"]);
  expect(watches).toHaveLength(1);
});

it("answers a ping, and comes back after its object was deleted", async () => {
  const { candidacy, clock, sent, watches } = world();
  candidacy.start();
  await clock.pass(100);
  watches[0]?.observer.observed(new Date(clock.now().wallMs).toISOString());
  await clock.pass(1_000);
  expect(sent).toEqual(["renew pod-b", "renew pod-b"]);
  watches[0]?.observer.deleted();
  await clock.pass(5_000);
  expect(sent).toEqual(["renew pod-b", "renew pod-b", "renew pod-b"]);
});

it("reports what fails: a request, the watch, and a request that throws", async () => {
  const failing = world(async () => denied);
  failing.candidacy.start();
  await failing.clock.pass(100);
  failing.watches[0]?.observer.failed({ kind: "unreachable", message: "away" });
  expect(failing.failures).toEqual([denied, { kind: "unreachable", message: "away" }]);
  const throwing = world(async () => {
    throw new Error("a defect");
  });
  throwing.candidacy.start();
  await throwing.clock.pass(100);
  expect(throwing.failures).toEqual([{ kind: "server", message: "a defect" }]);
});

it("removes its object when it stops, and then ignores its watch", async () => {
  const { candidacy, clock, sent, watches, failures } = world();
  candidacy.start();
  await clock.pass(100);
  let isStopped = false;
  const stopped = candidacy.stop().then(() => {
    isStopped = true;
  });
  // It does not wait for its time limit.
  await clock.pass(10);
  expect(isStopped).toBe(true);
  await stopped;
  expect(sent).toEqual(["renew pod-b", "remove pod-b"]);
  expect(watches[0]?.signal.aborted).toBe(true);
  watches[0]?.observer.failed(denied);
  watches[0]?.observer.deleted();
  await clock.pass(10_000);
  expect(sent).toEqual(["renew pod-b", "remove pod-b"]);
  expect(failures).toEqual([]);
});
