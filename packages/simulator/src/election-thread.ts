/**
 * The worker thread of an election with `worker: true`. Both sides of it are what ships; only the thread is simulated. Messages
 * between the threads are copied and arrive in order, late if the receiving thread is busy. The thread can die.
 */
import type { Lock } from "@tenure/election";
import { serveCandidate, type Thread, type WorkerSetup } from "@tenure/election/internal";
import type { Machine } from "./machine.ts";
import type { Scheduler } from "./scheduler.ts";

interface ThreadParts {
  readonly machine: Machine;
  readonly scheduler: Scheduler;
  /** The lock as the thread constructs it from its spec. */
  readonly lock: Lock;
  /** The thread ends the whole process, because the main thread has not stopped its work in time. */
  readonly endProcess: () => void;
}

/** How long the main thread is busy at most before it reads its messages. */
const busyMs = 300;
/** Never settles: the thread that waits for it is dead. */
const never = new Promise<never>(() => {});

export class ElectionThread implements Thread {
  readonly #machine: Machine;
  readonly #scheduler: Scheduler;
  readonly #toThread: Channel;
  readonly #toMain: Channel;
  readonly #listeners: Record<"message" | "error", (value: never) => void> = {
    message: () => {},
    error: () => {},
  };
  readonly #onCommand: Promise<(command: never) => void>;
  #isAlive = true;

  constructor(setup: WorkerSetup, { machine, scheduler, lock, endProcess }: ThreadParts) {
    this.#machine = machine;
    this.#scheduler = scheduler;
    this.#toThread = new Channel(scheduler, machine, () => machine.random.between(0, 1));
    this.#toMain = new Channel(scheduler, machine, () => machine.random.next() ** 4 * busyMs);
    const { clock, random } = machine;
    this.#onCommand = serveCandidate({
      // As with onOverrun "exit". The main thread would end the simulator.
      setup: { ...setup, endOnOverrun: true },
      lock: this.#whileAlive(lock),
      clock: {
        now: () => clock.now(),
        at: (monoMs, callback) => clock.at(monoMs, () => this.#isAlive && callback()),
      },
      random: random.next,
      send: (notice) => this.#toMain.send(notice, (copy) => this.#listeners.message(copy as never)),
      endProcess,
    }) as Promise<(command: never) => void>;
  }

  postMessage(command: object): void {
    this.#toThread.send(command, async (copy) => {
      const onCommand = await this.#onCommand;
      if (this.#isAlive) onCommand(copy as never);
    });
  }

  on(event: "message" | "error", listener: (value: never) => void): void {
    this.#listeners[event] = listener;
  }

  terminate(): void {
    this.#isAlive = false;
  }

  /** The thread runs out of memory. */
  die(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    this.#scheduler.after(this.#machine.random.between(0, busyMs), () =>
      this.#machine.defer(() => this.#listeners.error(new Error("out of memory") as never)),
    );
  }

  /** A dead thread hears of nothing, and sends nothing more. */
  #whileAlive(lock: Lock): Lock {
    const whileAlive = async <T>(request: () => Promise<T>): Promise<T> => {
      const answer = this.#isAlive ? await request() : await never;
      return this.#isAlive ? answer : never;
    };
    return {
      ...lock,
      read: (...args) => whileAlive(() => lock.read(...args)),
      write: (...args) => whileAlive(() => lock.write(...args)),
      watch: (observer, signal) =>
        lock.watch?.(
          {
            observed: (view) => this.#isAlive && observer.observed(view),
            deleted: (revision) => this.#isAlive && observer.deleted(revision),
            changed: () => this.#isAlive && observer.changed(),
            up: () => this.#isAlive && observer.up(),
            down: (failure) => this.#isAlive && observer.down(failure),
          },
          signal,
        ),
    };
  }
}

/** Messages in one direction. They arrive in order. */
class Channel {
  readonly #scheduler: Scheduler;
  readonly #machine: Machine;
  readonly #delayMs: () => number;
  #lastMs = 0;

  constructor(scheduler: Scheduler, machine: Machine, delayMs: () => number) {
    this.#scheduler = scheduler;
    this.#machine = machine;
    this.#delayMs = delayMs;
  }

  send(message: object, receive: (copy: object) => void): void {
    const copy = structuredClone(message);
    this.#lastMs = Math.max(this.#lastMs, this.#scheduler.nowMs + this.#delayMs());
    this.#scheduler.at(this.#lastMs, () => this.#machine.defer(() => receive(copy)));
  }
}
