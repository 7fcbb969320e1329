/** A watchdog that starts before its supervisor exists. */
import { systemClock } from "@tenure/base";
import { expect, it } from "vitest";
import { sendSignal } from "./platform.ts";
import { startWatchdog } from "./start-watchdog.ts";
import { isRunning, until } from "./testing/processes.ts";
import { Watchdog } from "./watchdog/watchdog.ts";

function supervise(started = startWatchdog()) {
  const answers: number[] = [];
  const watchdog = new Watchdog({
    marker: started.marker,
    clock: systemClock,
    started,
    onAnswer: (question) => answers.push(question),
    onEnd: () => {},
    onKilled: () => {},
  });
  return { watchdog, answers, started };
}

it("is used by its supervisor, which hears that it listens", async () => {
  const { watchdog, answers, started } = supervise();
  watchdog.start();
  expect(started.take()).toBeUndefined();
  watchdog.ask(7);
  await until(() => answers.length === 2);
  expect(answers).toEqual([0, 7]);
  await started.discard();
  expect(isRunning(watchdog.pid ?? 0)).toBe(true);
  await watchdog.close();
});

it("is replaced if it has died meanwhile", async () => {
  const { watchdog, answers, started } = supervise();
  const { pid = 0 } = started;
  sendSignal(pid, "SIGKILL");
  await until(() => sendSignal(pid, 0) === "gone");
  watchdog.start();
  await until(() => answers.length === 1);
  expect(watchdog.pid).not.toBe(pid);
  await watchdog.close();
});

it("is ended if nobody needs it", async () => {
  const { pid = 0, discard } = startWatchdog();
  expect(isRunning(pid)).toBe(true);
  await discard();
  expect(isRunning(pid)).toBe(false);
  await discard();
});
