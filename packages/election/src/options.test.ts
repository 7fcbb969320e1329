import { hostname } from "node:os";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Election } from "./election.ts";
import { ElectionError } from "./errors.ts";
import { ConfigMapLock } from "./locks/annotation-lock.ts";
import { LeaseLock } from "./locks/lease-lock.ts";
import { MigrationLock } from "./locks/migration-lock.ts";
import { checkOptions, type ElectionOptions } from "./options.ts";
import type { Term } from "./term.ts";
import { FakeApi } from "./testing/fake-api.ts";

const lock = new MemoryServer(new VirtualClock()).link();

function problemsOf(options: object): string {
  try {
    new Election({ lock, identity: "a", ...options } as ElectionOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(ElectionError);
    expect(error).toMatchObject({ code: "InvalidOptions" });
    return (error as Error).message;
  }
  return "";
}

afterEach(() => vi.unstubAllEnvs());

describe("unknown options are rejected, with the name that was probably meant", () => {
  it.each<[string, () => unknown, string]>([
    ["of an election", () => new Election({ lock, leaseDuraton: "20s" } as ElectionOptions), "leaseDuration"],
    ["of a LeaseLock", () => new LeaseLock({ name: "x", nameSpace: "y" } as never), "namespace"],
    ["of a ConfigMapLock", () => new ConfigMapLock({ name: "x", label: {} } as never), "labels"],
    ["of a MigrationLock", () => new MigrationLock({ from: lock, to: lock, too: lock } as never), "to"],
    ["of stepDown", () => new Election({ lock }).stepDown({ coolDown: "1s" } as never), "cooldown"],
    ["of terms", () => new Election({ lock }).terms({ sginal: undefined } as never), "signal"],
  ])("%s", (_what, attempt, meant) => {
    expect(attempt).toThrow(expect.objectContaining({ code: "InvalidOptions" }));
    expect(attempt).toThrow(`is not an option; did you mean ${meant}?`);
  });

  it("of run", async () => {
    const election = new Election({ lock });
    const options = { singal: AbortSignal.abort() } as never;
    const message = "Cannot run the election: singal is not an option; did you mean signal?.";
    await expect(election.run(() => {}, options)).rejects.toThrow(message);
    await expect(election.run(options)).rejects.toThrow(message);
  });

  it.each(["no function", 7, null])("work that is %j is rejected", async (work) => {
    await expect(new Election({ lock }).run(work as never)).rejects.toMatchObject({
      code: "InvalidOptions",
      message: expect.stringContaining("work must be a function, but is"),
    });
    await expect(new Election({ lock }).run(undefined as never, {})).rejects.toThrow(
      "work must be a function",
    );
  });
});

describe("priority", () => {
  it.each([11, -1, 1.5, Number.NaN])("%d is rejected", (priority) => {
    expect(problemsOf({ priority })).toContain(
      `priority must be a whole number from 0 to 10, but is ${priority}`,
    );
  });

  it.each<[object, number]>([
    [{}, 0],
    [{ priority: 10 }, 0],
    [{ priority: 8 }, 600],
    [{ priority: 0 }, 3_000],
    [{ noFailover: true }, Number.POSITIVE_INFINITY],
    [{ noFailover: true, priority: 10 }, Number.POSITIVE_INFINITY],
  ])("%j delays an acquisition by %d ms", (options, delayMs) => {
    expect(checkOptions({ lock, identity: "a", ...options }).acquireDelayMs).toBe(delayMs);
  });
});

describe("timings", () => {
  it.each<[string, object, string]>([
    [
      "that do not nest: renewDeadline",
      { renewDeadline: "15s" },
      "renewDeadline must be less than leaseDuration (15s), but is 15s",
    ],
    [
      "that do not nest: renewDeadline longer",
      { leaseDuration: "15s", renewDeadline: "20s" },
      "renewDeadline must be less than leaseDuration (15s), but is 20s",
    ],
    [
      "that do not nest: retryPeriod",
      { retryPeriod: "10s" },
      "renewDeadline must be greater than 1.2 times retryPeriod",
    ],
    [
      "that leave no time to stop in",
      { renewDeadline: "14.9s" },
      "renewDeadline plus stopWithin must not pass the hard deadline",
    ],
    [
      "that leave too little time to stop in",
      { stopWithin: "5s" },
      "renewDeadline plus stopWithin must not pass the hard deadline",
    ],
    ["of zero", { leaseDuration: "0s" }, "leaseDuration must be greater than zero, but is 0s"],
    ["of zero, too", { retryPeriod: "0ms" }, "retryPeriod must be greater than zero, but is 0ms"],
    ["that are negative", { renewDeadline: "-1s" }, 'renewDeadline must be a duration like "15s"'],
    ["that are NaN", { leaseDuration: Number.NaN }, 'leaseDuration must be a duration like "15s"'],
    [
      "without a unit",
      { leaseDuration: 15 },
      'leaseDuration must be a duration like "15s" or "500ms", but is 15',
    ],
    [
      "of fractional seconds",
      { leaseDuration: "15.5s" },
      "leaseDuration must be whole seconds, because a Lease stores whole seconds, but is 15.5s",
    ],
    ["of 10^9 seconds", { leaseDuration: "1000000000s" }, "leaseDuration must be at most 24h"],
    ["of no such preset", { preset: "fastest" }, "preset must be one of standard, fast-failover, low-load"],
    [
      "whose interval is too long",
      { renewInterval: "6s" },
      "renewInterval must be at most half of renewDeadline",
    ],
  ])("%s are refused", (_what, options, problem) => {
    expect(problemsOf(options)).toContain(problem);
  });

  it.each([
    {},
    { preset: "fast-failover" },
    { preset: "low-load" },
    { leaseDuration: "137s", renewDeadline: "107s" },
  ])("%j are accepted", (options) => {
    expect(problemsOf(options)).toBe("");
  });

  it("whatever is accepted leaves the work time to stop, and a renewal time to be repeated", () => {
    const ms = fc.integer({ min: 1, max: 100_000 }).map((n) => `${n}ms`);
    const seconds = fc.integer({ min: 1, max: 100 }).map((n) => `${n}s`);
    fc.assert(
      fc.property(seconds, ms, ms, ms, (leaseDuration, renewDeadline, retryPeriod, stopWithin) => {
        const options = { lock, identity: "a", leaseDuration, renewDeadline, retryPeriod, stopWithin };
        let timings: ReturnType<typeof checkOptions>["timings"];
        try {
          ({ timings } = checkOptions(options));
        } catch {
          return;
        }
        expect(timings.renewDeadlineMs + Number.parseInt(stopWithin, 10)).toBeLessThanOrEqual(
          timings.hardDeadlineMs,
        );
        expect(timings.hardDeadlineMs).toBeLessThan(timings.leaseDurationMs * 0.99);
        expect(timings.renewIntervalMs * 2).toBeLessThanOrEqual(timings.renewDeadlineMs);
      }),
    );
  });
});

describe("identity", () => {
  it.each<[string, unknown, string]>([
    ["empty", "", "identity must not be empty"],
    ["null", null, "identity must not be empty"],
    ["of 300 characters", "x".repeat(300), "identity must have at most 253 characters"],
    ["with a line break", "a\nb", "identity must not contain line breaks or control characters"],
    ["with white space around it", " a", "identity must not begin or end with white space"],
    ["that is a number", 7, "identity must be a string, but is a value of type number"],
  ])("%s is refused", (_what, identity, problem) => {
    vi.stubEnv("POD_NAME", "");
    expect(problemsOf({ identity })).toContain(problem);
  });

  it("comes from POD_NAME", () => {
    vi.stubEnv("POD_NAME", "my-pod-1");
    expect(new Election({ lock }).identity).toBe("my-pod-1");
    expect(new Election({ lock, identity: "mine" }).identity).toBe("mine");
  });

  it.each(["", undefined])("is the host's name and a random suffix without one (POD_NAME is %j)", (value) => {
    vi.stubEnv("POD_NAME", value);
    const identities = [new Election({ lock }).identity, new Election({ lock }).identity];
    for (const identity of identities) expect(identity).toMatch(/-[0-9a-f]{8}$/);
    expect(identities.map((identity) => identity.slice(0, -9))).toEqual([hostname(), hostname()]);
    expect(identities[0]).not.toBe(identities[1]);
  });
});

describe("other options", () => {
  it.each<[object, string]>([
    [{ cooldown: "soon" }, 'cooldown must be a duration like "15s" or "500ms", but is "soon"'],
    [{ cooldown: 5 }, 'cooldown must be a duration like "15s" or "500ms", but is 5'],
    [{ stopTimeout: "soon" }, 'stopTimeout must be a duration like "15s" or "500ms", but is "soon"'],
    [{ stopTimeout: "0s" }, "stopTimeout must be greater than zero, but is 0s"],
    [{ stopTimeout: true }, 'stopTimeout must be a duration like "15s" or "500ms", but is true'],
    [{ lock: undefined }, "lock must be a lock, for example a LeaseLock"],
    [{ lock: {} }, "lock must be a lock, for example a LeaseLock"],
    [{ onOverrun: "ignore" }, 'onOverrun must be one of exit, report, but is "ignore"'],
    [{ worker: true }, "worker needs a lock that can be created again in another thread"],
  ])("%j is refused", (options, problem) => {
    expect(problemsOf(options)).toContain(problem);
  });

  it("a cool-down of nothing is accepted, and without one it is retryPeriod", () => {
    expect(checkOptions({ lock, identity: "a", cooldown: "0s" }).cooldownMs).toBe(0);
    expect(checkOptions({ lock, identity: "a" }).cooldownMs).toBe(2_000);
    expect(checkOptions({ lock, identity: "a", preset: "low-load" }).cooldownMs).toBe(5_000);
  });

  it("the work has one minute to stop, unless stopTimeout says otherwise", () => {
    expect(checkOptions({ lock, identity: "a" }).drainTimeoutMs).toBe(60_000);
    expect(checkOptions({ lock, identity: "a", stopTimeout: "5m" }).drainTimeoutMs).toBe(300_000);
    expect(checkOptions({ lock, identity: "a", stopTimeout: false }).drainTimeoutMs).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it("without a clock, time is that of the system", async () => {
    const { client } = new FakeApi();
    const lease = new LeaseLock({ name: "x", namespace: "ns", client });
    const election = new Election({ lock: lease, identity: "a", register: false });
    let remainingMs = 0;
    const work = (term: Term) => {
      remainingMs = term.remainingMs();
    };
    await election.run(work, { once: true });
    expect(remainingMs).toBeGreaterThan(0);
    expect(remainingMs).toBeLessThanOrEqual(14_750);
  });

  it("are passed on", () => {
    expect(checkOptions({ lock, identity: "a" })).toMatchObject({
      waitWhenAbsent: false,
      failWhenDenied: false,
    });
    expect(checkOptions({ lock, identity: "a", waitWhenAbsent: true, failWhenDenied: true })).toMatchObject({
      identity: "a",
      waitWhenAbsent: true,
      failWhenDenied: true,
    });
  });
});

it("every problem is also a part of the error, for programs that show it in their own words", () => {
  const options = { lock, identity: "", cooldown: "soon" };
  expect(() => new Election(options)).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({ field: "identity" }),
        expect.objectContaining({ field: "cooldown", value: '"soon"' }),
      ],
    }),
  );
});

it("every problem is named at once", () => {
  const message = problemsOf({
    identity: "a\nb",
    leaseDuration: "1.5s",
    renewDeadline: "2s",
    retryPeriod: "never",
    cooldown: "soon",
    lock: null,
    onOverrun: "shrug",
    worker: true,
  });
  expect(message).toMatch(/^Cannot set up the election: /);
  for (const problem of [
    "identity",
    "leaseDuration",
    "renewDeadline",
    "retryPeriod",
    "cooldown",
    "lock",
    "onOverrun",
  ]) {
    expect(message).toMatch(new RegExp(`(: |; )${problem} must`));
  }
  expect(message).toContain("worker needs");
});
