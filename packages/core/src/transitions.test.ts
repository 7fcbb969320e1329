/** Back-off, stagger and draining: when requests are sent. */
import { describe, expect, it } from "vitest";
import { held, released } from "./testing/records.ts";
import { failure, leading, ofType, TestCandidate, verbs, waiting } from "./testing/test-candidate.ts";
import { resolveTimings } from "./timings.ts";

const unreachable = () => ({ kind: "failed", failure: failure("unreachable") }) as const;

function waitsAfterFailures(candidate: TestCandidate, count: number): number[] {
  const waits: number[] = [];
  for (let n = 0; n < count; n++) {
    candidate.failed();
    const failedAtMs = candidate.monoMs;
    while (!candidate.request) candidate.wait(candidate.nextWakeMs - candidate.monoMs);
    waits.push(candidate.monoMs - failedAtMs);
  }
  return waits;
}

describe("after a failed request", () => {
  it("the wait doubles from 100 ms up to retryPeriod", () => {
    const candidate = new TestCandidate();
    candidate.random = 1 - Number.EPSILON;
    candidate.start();
    const waits = waitsAfterFailures(candidate, 7).map((ms) => Math.round(ms));
    expect(waits).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
  });

  it("half of the wait is random", () => {
    const candidate = new TestCandidate();
    candidate.random = 0;
    candidate.start();
    expect(waitsAfterFailures(candidate, 7)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  it("the wait does not overflow after very many failures", () => {
    const candidate = new TestCandidate();
    candidate.start();
    for (const ms of waitsAfterFailures(candidate, 2_000).slice(10)) expect(ms).toBeCloseTo(1_500, 3);
  });

  it("an answer resets the back-off", () => {
    const candidate = new TestCandidate();
    candidate.start();
    waitsAfterFailures(candidate, 4);
    candidate.found(held(7));
    candidate.wait(2_000);
    expect(candidate.request?.type).toBe("read");
    expect(waitsAfterFailures(candidate, 1)).toEqual([75]);
  });

  it("an answer that shows nothing new resets it, too", () => {
    const candidate = waiting(held(7));
    candidate.wait(2_000);
    waitsAfterFailures(candidate, 4);
    candidate.found(held(7));
    candidate.wait(2_000);
    expect(waitsAfterFailures(candidate, 1)).toEqual([75]);
  });

  it('an "absent" answer resets it, too, so that a missing lock is created at once', () => {
    const candidate = waiting(held(7));
    candidate.wait(2_000);
    waitsAfterFailures(candidate, 4);
    candidate.absent();
    expect(candidate.state).toMatchObject({ failures: 0, retryAtMs: candidate.monoMs });
  });

  it('a repeated "absent" answer resets it, too', () => {
    const candidate = new TestCandidate({ waitWhenAbsent: true });
    candidate.start();
    candidate.absent();
    candidate.wait(2_000);
    waitsAfterFailures(candidate, 4);
    candidate.absent();
    expect(candidate.state).toMatchObject({ failures: 0, retryAtMs: candidate.monoMs });
  });

  it("a denied request is retried after retryPeriod from the first time on", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.failed("denied");
    expect(candidate.nextWakeMs - candidate.monoMs).toBe(1_500);
  });

  it("a Retry-After is respected", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.failed("throttled", 1_234);
    expect(candidate.nextWakeMs - candidate.monoMs).toBe(1_234);
  });

  it("a Retry-After longer than retryPeriod is cut to retryPeriod", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.failed("throttled", 3_600_000);
    expect(candidate.nextWakeMs - candidate.monoMs).toBe(2_000);
  });

  it("a Retry-After shorter than the back-off does not shorten it", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.failed("throttled", 1);
    expect(candidate.nextWakeMs - candidate.monoMs).toBe(75);
  });

  it("the failure is reported unchanged, with the kind of request", () => {
    const candidate = new TestCandidate();
    candidate.start();
    expect(candidate.failed("throttled", 1)).toEqual([
      {
        type: "failed",
        during: "read",
        failure: { kind: "throttled", message: "it was throttled", retryAfterMs: 1 },
      },
    ]);
    candidate.wait(100);
    candidate.absent();
    expect(ofType(candidate.failed("server"), "failed")).toMatchObject([{ during: "acquire" }]);
  });
});

describe("near the renew deadline", () => {
  it("a leader waits at most half of the remaining time, and at least 50 ms", () => {
    const candidate = leading();
    candidate.random = 0.999;
    const atMs: number[] = [];
    candidate.run(10_000, () => {
      atMs.push(candidate.monoMs);
      return unreachable();
    });
    const waits = atMs.slice(1).map((ms, n) => ms - (atMs[n] ?? 0) - 1);
    for (const [n, waitMs] of waits.entries()) {
      const remainingMs = 10_000 - (atMs[n] ?? 0);
      expect(waitMs).toBeLessThanOrEqual(Math.max(remainingMs / 2, 50) + 1e-6);
      expect(waitMs).toBeGreaterThanOrEqual(50 - 1e-6);
    }
    expect(atMs.at(-1)).toBeGreaterThan(9_890);
    expect(candidate.phase).toBe("lost");
  });

  it("a request times out after at most half of the remaining time, and at least 50 ms", () => {
    const candidate = leading();
    candidate.wait(10_000);
    const timeouts = ofType(candidate.effects, "write").map(({ timeoutMs }) => timeoutMs);
    expect(timeouts[1]).toBe(2_500);
    expect(Math.min(...timeouts)).toBe(50);
    expect(timeouts).toEqual([...timeouts].sort((a, b) => b - a));
    expect(timeouts.filter((ms) => ms < 2_500).length).toBeGreaterThan(4);
  });

  it("a leader makes at least three attempts even if each request hangs", () => {
    const candidate = leading();
    const effects = candidate.wait(10_000);
    expect(ofType(effects, "write").length).toBeGreaterThanOrEqual(3);
  });

  it("the remaining time counts by the clock that shows more, after a suspension", () => {
    const candidate = leading();
    candidate.suspend(8_000);
    candidate.tick();
    expect(candidate.request).toMatchObject({ type: "write", purpose: "renew", timeoutMs: 1_000 });
    candidate.failed();
    expect(candidate.nextWakeMs - candidate.monoMs).toBeLessThanOrEqual(1_000);
  });

  it("the same applies while draining", () => {
    const candidate = leading();
    candidate.run(8_999, () => unreachable());
    candidate.stepDown();
    candidate.run(200, () => unreachable());
    expect(candidate.nextWakeMs - candidate.monoMs).toBeLessThanOrEqual(500);
  });

  it("the limits do not apply to a candidate", () => {
    const candidate = waiting(held(7));
    candidate.wait(2_000);
    expect(candidate.request).toMatchObject({ type: "read", timeoutMs: 2_500 });
  });
});

describe("after a conflict", () => {
  it("the lock is read at once the first time", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    expect(verbs(candidate.conflict())).toEqual(["get"]);
  });

  it("repeated conflicts that a read does not explain are retried with back-off", () => {
    const candidate = waiting(released(7));
    const effects = candidate.run(20_000, (request) =>
      request.type === "read" ? { kind: "found", view: released(7) } : { kind: "conflict" },
    );
    expect(verbs(effects).length).toBeLessThan(2 * 20);
  });

  it("a watch event that explains it resets the back-off and makes the read unnecessary", () => {
    const candidate = waiting(released(7));
    candidate.conflict();
    candidate.found(released(7));
    candidate.conflict();
    expect(candidate.request).toBeUndefined();
    candidate.observed(released(8, { leaseTransitions: 1 }));
    expect(verbs(candidate.wait(8))).toEqual(["update"]);
  });

  it("a read that explains it resets the back-off", () => {
    const candidate = waiting(released(7));
    candidate.conflict();
    candidate.found(released(8, { leaseTransitions: 1 }));
    expect(candidate.request).toMatchObject({ type: "write", over: { version: "8" } });
    expect(verbs(candidate.conflict())).toEqual(["get"]);
  });
});

describe("stagger", () => {
  it.each([
    [0.5, 1],
    [0.99, 1],
  ])("with %d as the random number of its step, delays the reaction to a release by %d ms", (random, ms) => {
    const candidate = waiting(held(7));
    candidate.freeze(1_000);
    candidate.random = random;
    expect(verbs(candidate.observed(released(8)))).toEqual([]);
    expect(candidate.nextWakeMs).toBe(1_000 + ms);
    expect(verbs(candidate.wait(ms))).toEqual(["update"]);
  });

  it.each([0, 0.49])("with %d, reacts at once", (random) => {
    const candidate = waiting(held(7));
    candidate.random = random;
    expect(verbs(candidate.observed(released(8)))).toEqual(["update"]);
  });

  it("delays the reaction to an expiry", () => {
    const candidate = waiting(held(7));
    candidate.watchUp();
    candidate.random = 0.5;
    candidate.observed(held(8));
    const effects = candidate.run(15_000.9, () => ({ kind: "found", view: held(8) }));
    expect(ofType(effects, "write")).toEqual([]);
    expect(verbs(candidate.wait(0.2))).toEqual(["update"]);
  });

  it("delays the reaction to a deletion", () => {
    const candidate = waiting(held(7));
    candidate.random = 0.9;
    candidate.deleted(8);
    const effects = candidate.run(15_000.9, () => ({ kind: "absent" }));
    expect(ofType(effects, "write")).toEqual([]);
    expect(verbs(candidate.wait(0.2))).toEqual(["create"]);
  });

  it("does not delay the reaction to an answer", () => {
    const candidate = new TestCandidate();
    candidate.start();
    expect(verbs(candidate.absent())).toEqual(["create"]);
  });
});

describe("a term that ends on purpose", () => {
  it("drains after a part of the work has ended, and names that as the reason", () => {
    const candidate = leading();
    expect(candidate.send({ type: "step-down", cooldownMs: 0, reason: "work-ended" })).toEqual([
      { type: "term-ending", reason: "work-ended" },
    ]);
    candidate.workStopped();
    expect(ofType(candidate.ack(2), "term-ended")).toMatchObject([{ reason: "work-ended", released: true }]);
  });
});

describe("other timings", () => {
  it("the back-off is limited by their retryPeriod", () => {
    const candidate = new TestCandidate({ timings: resolveTimings({ preset: "low-load" }) });
    candidate.random = 1 - Number.EPSILON;
    candidate.start();
    expect(Math.round(waitsAfterFailures(candidate, 8).at(-1) ?? 0)).toBe(5_000);
  });
});
