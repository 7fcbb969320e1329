/** The supervisor's end, with a watchdog that is real or cannot be. */
import { afterEach, expect, it } from "vitest";
import { randomId, sendSignal, systemClock } from "../platform.ts";
import { until } from "../testing/processes.ts";
import { Watchdog, type WatchdogParts } from "./watchdog.ts";

const watchdogs: Watchdog[] = [];

function newWatchdog(parts: Partial<WatchdogParts> = {}) {
  const errors: Error[] = [];
  const log = { unguarded: 0 };
  const watchdog = new Watchdog({
    marker: randomId(),
    clock: systemClock,
    onError: (error) => errors.push(error),
    onKilled: () => {},
    onUnguarded: () => {
      log.unguarded += 1;
    },
    ...parts,
  });
  watchdogs.push(watchdog);
  return { watchdog, errors, log };
}

afterEach(async () => {
  await Promise.all(watchdogs.splice(0).map((watchdog) => watchdog.close()));
});

it("is ready when it listens, and gone when it is closed", async () => {
  const { watchdog, errors } = newWatchdog();
  watchdog.start();
  expect(watchdog.isReady).toBe(false);
  expect(await watchdog.ready()).toBe(true);
  const { pid = 0 } = watchdog;
  await watchdog.close();
  expect(sendSignal(pid, 0)).toBe("gone");
  expect(errors).toEqual([]);
});

it("that cannot be started is not ready, and says why", async () => {
  const { watchdog, errors } = newWatchdog({ argv: ["/no/such/program"] });
  watchdog.start();
  expect(await watchdog.ready(300)).toBe(false);
  expect(errors[0]).toMatchObject({ code: "Unguarded", message: expect.stringMatching(/ENOENT/) });
});

it("that ends at once is tried again, ever more seldom", async () => {
  const { watchdog, errors } = newWatchdog({ argv: ["false"] });
  watchdog.start();
  await until(() => errors.length >= 3);
  expect(watchdog.isReady).toBe(false);
});

it("has heard when it says so, and has not while it stands still", async () => {
  const { watchdog } = newWatchdog();
  watchdog.start();
  await watchdog.ready();
  expect(await watchdog.heard()).toBe(true);
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGSTOP");
  expect(await watchdog.heard(200)).toBe(false);
  sendSignal(pid, "SIGCONT");
  expect(await watchdog.heard()).toBe(true);
});

it("that was stopped does not keep its supervisor from ending", async () => {
  const { watchdog } = newWatchdog();
  watchdog.start();
  await watchdog.ready();
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGSTOP");
  await watchdog.close();
  expect(sendSignal(pid, 0)).toBe("gone");
});

it("that dies is replaced", async () => {
  const { watchdog, errors, log } = newWatchdog();
  watchdog.start();
  await watchdog.ready();
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGKILL");
  await until(() => errors.length === 1);
  // Not after a while: there is another one already.
  expect([undefined, pid]).not.toContain(watchdog.pid);
  await until(() => watchdog.isReady);
  expect(errors).toHaveLength(1);
  expect(log.unguarded).toBe(0);
});
