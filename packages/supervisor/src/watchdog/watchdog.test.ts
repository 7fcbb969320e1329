/** The supervisor's side of the watchdog, with a real watchdog or one that cannot be started. */
import { systemClock } from "@tenure/base";
import { afterEach, expect, it } from "vitest";
import { randomId, sendSignal } from "../platform.ts";
import { until } from "../testing/processes.ts";
import { Watchdog, type WatchdogOptions } from "./watchdog.ts";

const watchdogs: Watchdog[] = [];

function newWatchdog(options: Partial<WatchdogOptions> = {}) {
  const log: (number | string)[] = [];
  const watchdog = new Watchdog({
    marker: randomId(),
    clock: systemClock,
    onAnswer: (question) => log.push(question),
    onEnd: (why) => log.push(why),
    onKilled: () => {},
    ...options,
  });
  watchdogs.push(watchdog);
  watchdog.start();
  return { watchdog, log };
}

afterEach(async () => {
  await Promise.all(watchdogs.splice(0).map((watchdog) => watchdog.close()));
});

it("answers when it listens, then every question, and has exited when it is closed", async () => {
  const { watchdog, log } = newWatchdog();
  await until(() => log.length === 1);
  watchdog.ask(7);
  await until(() => log.length === 2);
  expect(log).toEqual([0, 7]);
  const { pid = 0 } = watchdog;
  await watchdog.close();
  expect(sendSignal(pid, 0)).toBe("gone");
  expect(log).toEqual([0, 7]);
});

it.each([
  ["/no/such/program", /ENOENT/],
  ["false", /exited with code 1/],
])("reports why %s ended", async (program, why) => {
  const { log } = newWatchdog({ argv: [program] });
  await until(() => log.length === 1);
  expect(log[0]).toMatch(why);
});

it("that is stopped does not answer, and is killed without a report", async () => {
  const { watchdog, log } = newWatchdog();
  await until(() => log.length === 1);
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGSTOP");
  watchdog.ask(1);
  watchdog.kill();
  await until(() => sendSignal(pid, 0) === "gone");
  expect(watchdog.pid).toBeUndefined();
  watchdog.start();
  await until(() => log.length === 2);
  expect(log).toEqual([0, 0]);
});

it("that is stopped does not keep its supervisor from ending", async () => {
  const { watchdog, log } = newWatchdog();
  await until(() => log.length === 1);
  const { pid = 0 } = watchdog;
  sendSignal(pid, "SIGSTOP");
  await watchdog.close();
  expect(sendSignal(pid, 0)).toBe("gone");
});
