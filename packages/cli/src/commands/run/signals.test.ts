import { expect, it } from "vitest";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { listenToSignals } from "./signals.ts";

function started() {
  const platform = fakePlatform("", { home: "/" });
  const calls: string[] = [];
  const signals = listenToSignals(platform);
  const supervisor = { hurry: () => calls.push("hurry"), forward: (signal: string) => calls.push(signal) };
  return { platform, signals, supervisor, calls };
}

it("the first signal asks to stop, every further one to hurry", () => {
  const { platform, signals, supervisor, calls } = started();
  signals.connect(supervisor as never);
  platform.raise("SIGINT");
  expect([signals.shutdown.aborted, calls]).toEqual([true, []]);
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

it("stops listening", () => {
  const { platform, signals } = started();
  signals.dispose();
  platform.raise("SIGTERM");
  expect(signals.shutdown.aborted).toBe(false);
});
