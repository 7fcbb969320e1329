/** The supervisor's side, with a real watchdog or one that cannot be started. */
import { systemClock } from "@tenure/base";
import { afterEach, expect, it } from "vitest";
import { randomId, sendSignal } from "../platform.ts";
import { until } from "../testing/processes.ts";
import { Watchdog, type WatchdogOptions } from "./watchdog.ts";

const watchdogs: Watchdog[] = [];

function newWatchdog(options: Partial<WatchdogOptions> = {}) {
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
    ...options,
  });
  watchdogs.push(watchdog);
  return { watchdog, errors, log };
}

afterEach(async () => {
  await Promise.all(watchdogs.splice(0).map((watchdog) => watchdog.close()));
});

it("is ready when it listens, and has exited when it is closed", async () => {
  const { watchdog, errors } = newWatchdog();
  watchdog.start();
  expect(watchdog.isReady).toBe(false);
  expect(await watchdog.ready()).toBe(true);
  const { pid = 0 } = watchdog;
  await watchdog.close();
  expect(sendSignal(pid, 0)).toBe("gone");
  expect(errors).toEqual([]);
});

it("that cannot be started is not ready, and reports why", async () => {
  const { watchdog, errors } = newWatchdog({ argv: ["/no/such/program"] });
  watchdog.start();
  expect(await watchdog.ready(300)).toBe(false);
  expect(errors[0]).toMatchObject({ code: "Unguarded", message: expect.stringMatching(/ENOENT/) });
});

it("that exits at once is started again, after growing pauses", async () => {
  const { watchdog, errors } = newWatchdog({ argv: ["false"] });
  watchdog.start();
  await until(() => errors.length >= 3);
  expect(watchdog.isReady).toBe(false);
});

it("acknowledges messages, but not while it is stopped", async () => {
  const { watchdog } = newWatchdog();
  watchdog.start();
  await watchdog.ready();
  expect(await watchdog.acknowledged()).toBe(true);
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGSTOP");
  expect(await watchdog.acknowledged(200)).toBe(false);
  sendSignal(pid, "SIGCONT");
  expect(await watchdog.acknowledged()).toBe(true);
});

it("that is stopped does not keep its supervisor from ending", async () => {
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
  // At once, without a pause.
  expect([undefined, pid]).not.toContain(watchdog.pid);
  await until(() => watchdog.isReady);
  expect(errors).toHaveLength(1);
  expect(log.unguarded).toBe(0);
});
