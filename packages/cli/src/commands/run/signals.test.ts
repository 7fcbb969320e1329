import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { listenToSignals } from "./signals.ts";

function started({ isTerminal = false } = {}) {
  const clock = new VirtualClock();
  const platform = fakePlatform("", { home: "/", isTerminal, clock });
  const calls: string[] = [];
  const signals = listenToSignals(platform);
  const supervisor = { hurry: () => calls.push("hurry"), forward: (signal: string) => calls.push(signal) };
  return { clock, platform, signals, supervisor, calls };
}

it("the first signal asks to stop, every later one to hurry", async () => {
  const { clock, platform, signals, supervisor, calls } = started();
  signals.connect(supervisor as never);
  platform.raise("SIGINT");
  expect([signals.shutdown.aborted, calls]).toEqual([true, []]);
  // From timeout or npx, which signal twice.
  platform.raise("SIGINT");
  platform.raise("SIGTERM");
  expect(calls).toEqual([]);
  await clock.pass(500);
  platform.raise("SIGTERM");
  platform.raise("SIGTERM");
  expect(calls).toEqual(["hurry", "hurry"]);
});

it("forwards SIGHUP, SIGUSR1 and SIGUSR2", () => {
  const { platform, signals, supervisor, calls } = started();
  platform.raise("SIGHUP");
  const end = signals.connect(supervisor as never);
  for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) platform.raise(signal);
  end();
  platform.raise("SIGUSR1");
  expect([signals.shutdown.aborted, calls]).toEqual([false, ["SIGHUP", "SIGUSR1", "SIGUSR2"]]);
});

it("SIGHUP asks to stop if there is a terminal, and never to hurry", async () => {
  const { clock, platform, signals, supervisor, calls } = started({ isTerminal: true });
  signals.connect(supervisor as never);
  platform.raise("SIGHUP");
  expect(signals.shutdown.aborted).toBe(true);
  await clock.pass(10_000);
  platform.raise("SIGHUP");
  expect(calls).toEqual([]);
});

it("stops listening", () => {
  const { platform, signals } = started();
  signals.dispose();
  platform.raise("SIGTERM");
  expect(signals.shutdown.aborted).toBe(false);
});
