import { describe, expect, it } from "vitest";
import { fakePlatform } from "../../testing/fake-platform.ts";
import { childOptions } from "./check.ts";
import type { RunFlags } from "./options.ts";

function checked(flags: RunFlags, env: Record<string, string> = {}) {
  const problems: string[] = [];
  const options = childOptions(flags, fakePlatform("", { home: "/", env }), problems);
  return { options, problems };
}

describe("the flags of the child", () => {
  it("say nothing that was not given: defaults are the supervisor's", () => {
    expect(checked({})).toEqual({ options: {}, problems: [] });
  });

  it("all mean something", () => {
    const { options, problems } = checked({
      ready: "fd:3",
      startTimeout: "5s",
      stopTimeout: "1m",
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
      maxRestarts: "0",
      restartWindow: "1h",
      cooldown: "7s",
    });
    expect(problems).toEqual([]);
    expect(options).toEqual({
      ready: { kind: "fd", fd: 3 },
      startTimeoutMs: 5_000,
      stopTimeoutMs: 60_000,
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
      maxRestarts: 0,
      restartWindowMs: 3_600_000,
      cooldownMs: 7_000,
    });
  });

  it("are refused all at once", () => {
    const { problems } = checked({
      ready: "fd:0",
      startTimeout: "0ms",
      stopTimeout: "soon",
      health: "ftp://x",
      healthPeriod: "0s",
      healthThreshold: "0",
      onExit: "restrat",
      maxRestarts: "-1",
    });
    expect(problems).toEqual([
      '--stop-timeout must be a duration such as "15s" or "500ms": "soon"',
      expect.stringMatching(/^--ready "fd:0" cannot be used: /),
      '--on-exit must be one of restart, release, exit: "restrat"; did you mean restart?',
      "--start-timeout must be greater than zero: 0ms",
      "--health-period must be greater than zero: 0s",
      '--health-threshold must be a whole number, 1 or more: "0"',
      expect.stringMatching(/^--health "ftp:\/\/x" cannot be used: /),
      '--max-restarts must be a whole number, 0 or more: "-1"',
    ]);
  });

  it("that mean nothing without another are said to", () => {
    expect(checked({ healthPeriod: "2s" }).problems).toEqual([
      "--health-period means nothing without --health: say what is to be checked",
    ]);
  });
});

describe("timeouts that do not nest are refused with the numbers and the way out", () => {
  const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };

  it.each([
    [
      "the pod's grace period that is given",
      { stopTimeout: "25s", podGracePeriod: "20s" },
      {},
      "--pod-grace-period must be at least 1s longer than --stop-timeout, or it is cut off: 20s < 25s + 1s; raise --pod-grace-period to 26s or lower --stop-timeout",
    ],
    [
      "that of a pod that says nothing",
      { stopTimeout: "30s" },
      pod,
      "--pod-grace-period must be at least 1s longer than --stop-timeout, or it is cut off: 30s < 30s + 1s; raise --pod-grace-period to 31s or lower --stop-timeout",
    ],
    [
      "the child's own",
      { childShutdown: "25s" },
      {},
      "--stop-timeout must be at least 1s longer than --child-shutdown, or it is cut off: 25s < 25s + 1s; raise --stop-timeout to 26s or lower --child-shutdown",
    ],
    [
      "the lease",
      { leaseDuration: "10s", renewDeadline: "9.5s" },
      {},
      "--renew-deadline and --kill-margin must end before the hard deadline, which is --lease-duration less 1 % for clocks and 100ms: 9.5s + 500ms > 9.8s; raise --lease-duration to 11s, or lower --renew-deadline or --kill-margin",
    ],
  ])("%s", (_name, flags, env, problem) => {
    expect(checked(flags, env as Record<string, string>).problems).toEqual([problem]);
  });

  it("and those that nest are not", () => {
    expect(checked({ podGracePeriod: "30s", childShutdown: "20s", childDrain: "15s" }, pod).problems).toEqual(
      [],
    );
    expect(checked({ stopTimeout: "10m" }).problems).toEqual([]);
  });
});
