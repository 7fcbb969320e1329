import { describeProblems, type Problem } from "@tenure/base";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { readSettings } from "../../settings/settings.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";
import type { RunFlags } from "./child-flags.ts";
import { childOptions } from "./child-options.ts";

/** The names of flags for a command without any values. */
const { nameOf } = await readSettings(new Command(), fakePlatform("", { home: "/" }));

function checked(flags: RunFlags, env: Record<string, string> = {}) {
  const problems: Problem[] = [];
  const options = childOptions(flags, fakePlatform("", { home: "/", env }), problems);
  return { options, problems: describeProblems(problems, nameOf) };
}

describe("the flags of the child", () => {
  it("set only what is given, because the supervisor has the defaults", () => {
    expect(checked({})).toEqual({ options: {}, problems: [] });
  });

  it("are all converted", () => {
    const { options, problems } = checked({
      ready: "fd:3",
      startTimeout: "5s",
      stopTimeout: "1m",
      stopSignal: "quit",
      killMode: "group",
      killMargin: "1s",
      cwd: "/tmp",
      logPrefix: "worker: ",
      deadlineFolder: "/var/tmp",
      health: "tcp://127.0.0.1:80",
      healthPeriod: "2s",
      healthTimeout: "500ms",
      healthDelay: "0s",
      healthThreshold: "5",
      onExit: "exit",
      whenUnhealthy: "lead",
      warm: true,
      maxRestarts: "0",
      restartWindow: "1h",
      cooldown: "7s",
    });
    expect(problems).toEqual([]);
    expect(options).toEqual({
      ready: { kind: "fd", fd: 3 },
      startTimeoutMs: 5_000,
      stopTimeoutMs: 60_000,
      stopSignal: "SIGQUIT",
      killMode: "group",
      killMarginMs: 1_000,
      cwd: "/tmp",
      logPrefix: "worker: ",
      deadlineFolder: "/var/tmp",
      health: {
        check: { kind: "tcp", host: "127.0.0.1", port: 80 },
        periodMs: 2_000,
        timeoutMs: 500,
        initialDelayMs: 0,
        threshold: 5,
      },
      onExit: "exit",
      whenUnhealthy: "lead",
      warm: true,
      maxRestarts: 0,
      restartWindowMs: 3_600_000,
      cooldownMs: 7_000,
    });
  });

  it("are all checked at once", () => {
    const { problems } = checked({
      ready: "fd:0",
      startTimeout: "0ms",
      stopTimeout: "soon",
      health: "ftp://x",
      healthPeriod: "0s",
      healthThreshold: "0",
      onExit: "restrat",
      whenUnhealthy: "leed",
      maxRestarts: "-1",
    });
    expect(problems).toEqual([
      '--stop-timeout must be a duration like "15s" or "500ms", but is "soon"',
      expect.stringMatching(/^--ready must .*, but is "fd:0"$/),
      '--on-exit must be one of restart, release, exit, but is "restrat"; did you mean restart?',
      '--when-unhealthy must be one of yield, lead, but is "leed"; did you mean lead?',
      "--start-timeout must be greater than zero, but is 0ms",
      "--health-period must be greater than zero, but is 0s",
      '--health-threshold must be a whole number of 1 or more, but is "0"',
      expect.stringMatching(/^--health must be one of .*, but is "ftp:\/\/x"$/),
      '--max-restarts must be a whole number of 0 or more, but is "-1"',
    ]);
  });

  it("that need another flag are rejected without it", () => {
    expect(checked({ healthPeriod: "2s" }).problems).toEqual(["--health-period requires --health"]);
  });
});

describe("timeouts that do not nest are rejected, with the numbers and a fix", () => {
  const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };

  it.each([
    [
      "a pod grace period that is given",
      { stopTimeout: "25s", podGracePeriod: "20s" },
      {},
      "--pod-grace-period must be at least 1s longer than --stop-timeout (25s), but is 20s; raise --pod-grace-period to 26s, or lower --stop-timeout",
    ],
    [
      "the default pod grace period",
      { stopTimeout: "30s" },
      pod,
      "--pod-grace-period must be at least 1s longer than --stop-timeout (30s), but is 30s; raise --pod-grace-period to 31s, or lower --stop-timeout",
    ],
    [
      "the shutdown of the child",
      { childShutdown: "25s" },
      {},
      "--stop-timeout must be at least 1s longer than --child-shutdown (25s), but is 25s; raise --stop-timeout to 26s, or lower --child-shutdown",
    ],
    [
      "the lease",
      { leaseDuration: "10s", renewDeadline: "9.5s" },
      {},
      "--renew-deadline plus --kill-margin must not pass the hard deadline, which is --lease-duration less 1 % for clock drift and 100ms (9.8s), but is 9.5s + 500ms; raise --lease-duration to 11s, or lower --renew-deadline or --kill-margin",
    ],
  ])("%s", (_name, flags, env, problem) => {
    expect(checked(flags, env as Record<string, string>).problems).toEqual([problem]);
  });

  it("timeouts that nest are accepted", () => {
    expect(checked({ podGracePeriod: "30s", childShutdown: "20s", childDrain: "15s" }, pod).problems).toEqual(
      [],
    );
    expect(checked({ stopTimeout: "10m" }).problems).toEqual([]);
  });
});
