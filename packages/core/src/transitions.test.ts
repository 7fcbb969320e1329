/** Back-off, stagger, cool-down: how requests and pauses are spaced. */
import { describe, expect, it } from "vitest";
import { held, released } from "./testing/records.ts";
import { failure, leading, ofType, Rig, verbs, waiting } from "./testing/rig.ts";
import { resolveTimings } from "./timings.ts";

const refused = () => ({ kind: "failed", failure: failure("unreachable") }) as const;

function pausesAfterFailures(rig: Rig, count: number): number[] {
  const pauses: number[] = [];
  for (let n = 0; n < count; n++) {
    rig.failed();
    const failedAtMs = rig.monoMs;
    while (!rig.request) rig.wait(rig.nextWakeMs - rig.monoMs);
    pauses.push(rig.monoMs - failedAtMs);
  }
  return pauses;
}

describe("after a failed request", () => {
  it("the pause doubles from 100 ms up to retryPeriod", () => {
    const rig = new Rig();
    rig.random = 1 - Number.EPSILON;
    rig.start();
    const pauses = pausesAfterFailures(rig, 7).map((ms) => Math.round(ms));
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
  });

  it("the pause has jitter: half of it is random", () => {
    const rig = new Rig();
    rig.random = 0;
    rig.start();
    expect(pausesAfterFailures(rig, 7)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  it("the pause does not overflow after very many", () => {
    const rig = new Rig();
    rig.start();
    for (const ms of pausesAfterFailures(rig, 2_000).slice(10)) expect(ms).toBeCloseTo(1_500, 3);
  });

  it("an answer begins the count anew", () => {
    const rig = new Rig();
    rig.start();
    pausesAfterFailures(rig, 4);
    rig.found(held(7));
    rig.wait(2_000);
    expect(rig.request?.type).toBe("read");
    expect(pausesAfterFailures(rig, 1)).toEqual([75]);
  });

  it("an answer that shows nothing new does so too", () => {
    const rig = waiting(held(7));
    rig.wait(2_000);
    pausesAfterFailures(rig, 4);
    rig.found(held(7));
    rig.wait(2_000);
    expect(pausesAfterFailures(rig, 1)).toEqual([75]);
  });

  it("a denial is repeated after retryPeriod from the first time on", () => {
    const rig = new Rig();
    rig.start();
    rig.failed("denied");
    expect(rig.nextWakeMs - rig.monoMs).toBe(1_500);
  });

  it("a Retry-After is kept", () => {
    const rig = new Rig();
    rig.start();
    rig.failed("throttled", 1_234);
    expect(rig.nextWakeMs - rig.monoMs).toBe(1_234);
  });

  it("a Retry-After longer than retryPeriod is not waited for", () => {
    const rig = new Rig();
    rig.start();
    rig.failed("throttled", 3_600_000);
    expect(rig.nextWakeMs - rig.monoMs).toBe(2_000);
  });

  it("a Retry-After shorter than our own pause does not shorten it", () => {
    const rig = new Rig();
    rig.start();
    rig.failed("throttled", 1);
    expect(rig.nextWakeMs - rig.monoMs).toBe(75);
  });

  it("what went wrong is said as it is, and during what", () => {
    const rig = new Rig();
    rig.start();
    expect(rig.failed("throttled", 1)).toEqual([
      {
        type: "failed",
        during: "read",
        failure: { kind: "throttled", message: "it was throttled", retryAfterMs: 1 },
      },
    ]);
    rig.wait(100);
    rig.absent();
    expect(ofType(rig.failed("server"), "failed")).toMatchObject([{ during: "acquire" }]);
  });
});

describe("a leader near its soft end", () => {
  it("pauses for half of what is left at most, and never less than 50 ms", () => {
    const rig = leading();
    rig.random = 0.999;
    const atMs: number[] = [];
    rig.run(10_000, () => {
      atMs.push(rig.monoMs);
      return refused();
    });
    const pauses = atMs.slice(1).map((ms, n) => ms - (atMs[n] ?? 0) - 1);
    for (const [n, pause] of pauses.entries()) {
      const leftMs = 10_000 - (atMs[n] ?? 0);
      expect(pause).toBeLessThanOrEqual(Math.max(leftMs / 2, 50) + 1e-6);
      expect(pause).toBeGreaterThanOrEqual(50 - 1e-6);
    }
    expect(atMs.at(-1)).toBeGreaterThan(9_890);
    expect(rig.phase).toBe("lost");
  });

  it("gives a request half of what is left at most, and never less than 50 ms", () => {
    const rig = leading();
    rig.wait(10_000);
    const timeouts = ofType(rig.effects, "write").map(({ timeoutMs }) => timeoutMs);
    expect(timeouts[1]).toBe(2_500);
    expect(Math.min(...timeouts)).toBe(50);
    expect(timeouts).toEqual([...timeouts].sort((a, b) => b - a));
    expect(timeouts.filter((ms) => ms < 2_500).length).toBeGreaterThan(4);
  });

  it("makes at least three attempts even if each hangs", () => {
    const rig = leading();
    const effects = rig.wait(10_000);
    expect(ofType(effects, "write").length).toBeGreaterThanOrEqual(3);
  });

  it("counts what is left by the clock that shows more, after a suspension", () => {
    const rig = leading();
    rig.suspend(8_000);
    rig.tick();
    expect(rig.request).toMatchObject({ type: "write", purpose: "renew", timeoutMs: 1_000 });
    rig.failed();
    expect(rig.nextWakeMs - rig.monoMs).toBeLessThanOrEqual(1_000);
  });

  it("a draining one just as well", () => {
    const rig = leading();
    rig.run(8_999, () => refused());
    rig.stepDown();
    rig.run(200, () => refused());
    expect(rig.nextWakeMs - rig.monoMs).toBeLessThanOrEqual(500);
  });

  it("a candidate has no such end", () => {
    const rig = waiting(held(7));
    rig.wait(2_000);
    expect(rig.request).toMatchObject({ type: "read", timeoutMs: 2_500 });
  });
});

describe("after a conflict", () => {
  it("the lock is read at once the first time", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    expect(verbs(rig.conflict())).toEqual(["get"]);
  });

  it("repeated conflicts that a read does not explain are slowed down", () => {
    const rig = waiting(released(7));
    const effects = rig.run(20_000, (request) =>
      request.type === "read" ? { kind: "found", view: released(7) } : { kind: "conflict" },
    );
    expect(verbs(effects).length).toBeLessThan(2 * 20);
  });

  it("a sight by the watch that explains it ends the back-off, and spares the read", () => {
    const rig = waiting(released(7));
    rig.conflict();
    rig.found(released(7));
    rig.conflict();
    expect(rig.request).toBeUndefined();
    rig.observed(released(8, { leaseTransitions: 1 }));
    expect(verbs(rig.wait(8))).toEqual(["update"]);
  });

  it("a read that does explain it ends the back-off", () => {
    const rig = waiting(released(7));
    rig.conflict();
    rig.found(released(8, { leaseTransitions: 1 }));
    expect(rig.request).toMatchObject({ type: "write", over: { version: "8" } });
    expect(verbs(rig.conflict())).toEqual(["get"]);
  });
});

describe("the stagger", () => {
  it("a release that the watch shows is acted on within 8 ms, by the random number of that sight", () => {
    const rig = waiting(held(7));
    rig.freeze(1_000);
    rig.random = 0.75;
    expect(verbs(rig.observed(released(8)))).toEqual([]);
    expect(rig.nextWakeMs).toBe(1_006);
    expect(verbs(rig.wait(6))).toEqual(["update"]);
  });

  it("an expiry likewise", () => {
    const rig = waiting(held(7));
    rig.watchUp();
    rig.random = 0.25;
    rig.observed(held(8));
    const effects = rig.run(15_001.9, () => ({ kind: "found", view: held(8) }));
    expect(ofType(effects, "write")).toEqual([]);
    expect(verbs(rig.wait(0.2))).toEqual(["update"]);
  });

  it("a deletion likewise", () => {
    const rig = waiting(held(7));
    rig.random = 0.5;
    rig.deleted(8);
    const effects = rig.run(15_003.9, () => ({ kind: "absent" }));
    expect(ofType(effects, "write")).toEqual([]);
    expect(verbs(rig.wait(0.2))).toEqual(["create"]);
  });

  it("what this candidate asked for itself is acted on at once", () => {
    const rig = new Rig();
    rig.start();
    expect(verbs(rig.absent())).toEqual(["create"]);
  });
});

describe("timings of another candidate", () => {
  it("the back-off goes up to its own retryPeriod", () => {
    const rig = new Rig({ timings: resolveTimings({ preset: "low-load" }) });
    rig.random = 1 - Number.EPSILON;
    rig.start();
    expect(Math.round(pausesAfterFailures(rig, 8).at(-1) ?? 0)).toBe(5_000);
  });
});
