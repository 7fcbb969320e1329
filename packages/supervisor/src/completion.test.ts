/** Work that is done once, with a scripted election and real children. */
import { afterEach, expect, it } from "vitest";
import type { Completion } from "./election-seam.ts";
import { until } from "./testing/processes.ts";
import { endRigs, newRig } from "./testing/rig.ts";

afterEach(endRigs);

/** A place that keeps the record. It can fail, and it can belong to somebody else. */
function newPlace({ isDone = false, readFailures = 0, recordFailures = 0, isTaken = false } = {}) {
  let [readsToFail, recordsToFail] = [readFailures, recordFailures];
  const place = { isDone, records: 0 };
  const completion: Completion = {
    isRecorded: async () => {
      if (readsToFail-- > 0) throw new Error("not reachable");
      return place.isDone;
    },
    record: async () => {
      if (recordsToFail-- > 0) throw new Error("not reachable");
      if (isTaken) return false;
      place.records += 1;
      place.isDone = true;
      return true;
    },
  };
  return Object.assign(place, { completion });
}

it("a child that exits with 0 is recorded before the lease is released, and the run ends", async () => {
  const place = newPlace();
  const { completion } = place;
  const rig = newRig("echo done", { completion, onExit: "exit" });
  rig.election.win();
  expect(await rig.outcome).toEqual({ exitCode: 0, killed: false });
  expect([place.records, rig.election.log]).toEqual([1, ["released", "run over"]]);
});

it("no child is started if the work is already recorded", async () => {
  const { completion } = newPlace({ isDone: true });
  const rig = newRig("echo done", { completion, onExit: "exit" });
  rig.election.win();
  expect(await rig.outcome).toEqual({ exitCode: 0, killed: false });
  expect([rig.children, rig.election.log]).toEqual([[], ["released", "run over"]]);
});

it("no child is started before it is known whether the work is recorded", async () => {
  const { completion } = newPlace({ isDone: true, readFailures: 2 });
  const rig = newRig("echo done", { completion, onExit: "exit" });
  rig.election.win();
  expect(await rig.outcome).toMatchObject({ exitCode: 0 });
  expect(rig.children).toEqual([]);
});

it("recording is repeated until it succeeds", async () => {
  const place = newPlace({ recordFailures: 2 });
  const rig = newRig("true", { completion: place.completion, onExit: "exit" });
  rig.election.win();
  expect(await rig.outcome).toMatchObject({ exitCode: 0 });
  expect(place.records).toBe(1);
});

it("a child that fails is not recorded, and the action for its exit follows", async () => {
  const place = newPlace();
  const rig = newRig("exit 3", { completion: place.completion, onExit: "exit" });
  rig.election.win();
  expect(await rig.outcome).toMatchObject({ exitCode: 3 });
  expect(place.records).toBe(0);
});

it("a child that is told to stop and exits with 0 is not recorded", async () => {
  const place = newPlace();
  const rig = newRig("trap 'exit 0' TERM; while :; do sleep 0.02; done", {
    completion: place.completion,
    onExit: "exit",
  });
  rig.election.win();
  await rig.ready();
  rig.shutdown.abort();
  expect(await rig.outcome).toMatchObject({ exitCode: 0 });
  expect([place.records, place.isDone]).toEqual([0, false]);
});

it("work whose lock was taken meanwhile is not recorded, and this replica keeps competing", async () => {
  const { completion } = newPlace({ isTaken: true });
  const rig = newRig("true", { completion, onExit: "exit" });
  rig.election.win();
  await rig.stopped();
  await until(() => rig.election.log.includes("released"));
  expect(rig.phases.at(-1)).toBe("follower");
});

it("a term that is lost while the record cannot be written ends without it", async () => {
  const place = newPlace({ recordFailures: Number.POSITIVE_INFINITY });
  const rig = newRig("true", { completion: place.completion, onExit: "exit" });
  rig.election.win();
  await rig.stopped();
  rig.election.lose(5_000);
  await until(() => rig.phases.at(-1) === "follower");
  expect(place.records).toBe(0);
});

it("a run that is told to stop while the record cannot be written ends after the stop timeout", async () => {
  const place = newPlace({ recordFailures: Number.POSITIVE_INFINITY });
  const rig = newRig("true", { completion: place.completion, onExit: "exit", stopTimeoutMs: 100 });
  rig.election.win();
  await rig.stopped();
  rig.shutdown.abort();
  expect(await rig.outcome).toMatchObject({ exitCode: 0 });
  expect(place.records).toBe(0);
});
