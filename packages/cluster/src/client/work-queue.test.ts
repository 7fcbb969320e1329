import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { WorkQueue } from "./work-queue.ts";

/** A queue whose work ends when the test says so. */
function start(fails: (key: string) => boolean = () => false, workers = 5) {
  const clock = new VirtualClock();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const errors: string[] = [];
  const queue = new WorkQueue({
    workers,
    platform: { clock, random: () => 1 },
    onError: (_error, key) => errors.push(key),
    work: (key) => {
      started.push(key);
      return new Promise((resolve, reject) =>
        ends.push(() => (fails(key) ? reject(new Error("failed")) : resolve())),
      );
    },
  });
  const stop = new AbortController();
  const stopped = queue.run(stop.signal);
  const end = async () => {
    ends.shift()?.();
    await clock.pass(0);
  };
  return { queue, clock, started, end, errors, stop, stopped };
}

it("works once on a key that was added several times", async () => {
  const { queue, started, end } = start(undefined, 1);
  queue.add("a");
  queue.add("b");
  queue.add("b");
  await end();
  await end();
  expect(started).toEqual(["a", "b"]);
});

it("never works on a key twice at the same time, but once more if it was added meanwhile", async () => {
  const { queue, started, end } = start();
  queue.add("a");
  queue.add("a");
  queue.add("b");
  expect(started).toEqual(["a", "b"]);
  await end();
  expect(started).toEqual(["a", "b", "a"]);
});

it("repeats failed work, later each time", async () => {
  const { queue, started, end, clock, errors } = start(() => true);
  queue.add("a");
  const waits: number[] = [];
  for (let failure = 0; failure < 3; failure++) {
    await end();
    waits.push(clock.dueInMs[0] ?? 0);
    await clock.pass(waits.at(-1) ?? 0);
  }
  expect(waits).toEqual([5, 10, 20]);
  expect(started).toHaveLength(4);
  expect(errors).toEqual(["a", "a", "a"]);
});

it("adds a key after a time, and keeps the earlier of two times", async () => {
  const { queue, started, clock } = start();
  queue.addAfter("a", 100);
  queue.addAfter("a", 1_000);
  await clock.pass(99);
  expect(started).toEqual([]);
  await clock.pass(1);
  expect(started).toEqual(["a"]);
});

it("stops when its work in progress has ended, and starts nothing more", async () => {
  const { queue, started, end, stop, stopped, clock } = start();
  queue.add("a");
  queue.addAfter("c", 10);
  stop.abort();
  queue.add("b");
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  await clock.pass(1_000);
  expect(isStopped).toBe(false);
  await end();
  expect(isStopped).toBe(true);
  expect(started).toEqual(["a"]);
});
