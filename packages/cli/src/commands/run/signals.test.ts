import { expect, it } from "vitest";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { takeSignals } from "./signals.ts";

function started() {
  const platform = fakePlatform("", { home: "/" });
  const calls: string[] = [];
  const signals = takeSignals(platform);
  const supervisor = { hurry: () => calls.push("hurry"), forward: (signal: string) => calls.push(signal) };
  return { platform, signals, supervisor, calls };
}

it("the first asks to stop, every other one to hurry, whichever they are", () => {
  const { platform, signals, supervisor, calls } = started();
  signals.connect(supervisor as never);
  platform.raise("SIGINT");
  expect([signals.shutdown.aborted, calls]).toEqual([true, []]);
  platform.raise("SIGTERM");
  platform.raise("SIGTERM");
  expect(calls).toEqual(["hurry", "hurry"]);
});

it("passes on what is the child's", () => {
  const { platform, signals, supervisor, calls } = started();
  platform.raise("SIGHUP");
  const end = signals.connect(supervisor as never);
  for (const signal of ["SIGHUP", "SIGUSR1", "SIGUSR2"] as const) platform.raise(signal);
  end();
  platform.raise("SIGUSR1");
  expect([signals.shutdown.aborted, calls]).toEqual([false, ["SIGHUP", "SIGUSR1", "SIGUSR2"]]);
});

it("forgets", () => {
  const { platform, signals } = started();
  signals.forget();
  platform.raise("SIGTERM");
  expect(signals.shutdown.aborted).toBe(false);
});
