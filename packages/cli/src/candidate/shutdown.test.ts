import { VirtualClock } from "@tenure/base/virtual-clock";
import { expect, it } from "vitest";
import { onceAborted } from "../signals.ts";
import { fakePlatform } from "../testing/fake-platform.ts";
import { untilShutdown } from "./shutdown.ts";

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s asks the work to stop", async (signal) => {
  const platform = fakePlatform("", { home: "/" });
  const ended = untilShutdown(platform, onceAborted);
  platform.raise(signal);
  await ended;
});

it("a later signal ends the process, but one that arrives together with the first does not", async () => {
  const clock = new VirtualClock();
  const platform = fakePlatform("", { home: "/", clock });
  let end = () => {};
  const ended = untilShutdown(
    platform,
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  platform.raise("SIGTERM");
  platform.raise("SIGTERM");
  await clock.pass(500);
  expect(() => platform.raise("SIGTERM")).toThrow("exit 1");
  end();
  await ended;
});

it("stops when npm ends that started it", async () => {
  const clock = new VirtualClock();
  let parents = [30];
  const platform = {
    ...fakePlatform("", { home: "/", env: { npm_command: "exec" }, clock }),
    parents: () => parents,
  };
  const ended = untilShutdown(platform, onceAborted);
  parents = [1];
  await clock.pass(500);
  await ended;
  expect(clock.armed).toBe(0);
});
