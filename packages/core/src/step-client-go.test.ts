/**
 * The tests of client-go (tools/leaderelection 0.36) that concern the algorithm, with their original names.
 * Where tenure differs on purpose, the test asserts tenure's behaviour and a comment says why.
 */
import { describe, expect, it } from "vitest";
import { checkIdentity } from "./identity.ts";
import type { LockView } from "./record.ts";
import { LockServer } from "./testing/lock-server.ts";
import { held, record, released, view } from "./testing/records.ts";
import { leading, ofType, TestCandidate, types, verbs } from "./testing/test-candidate.ts";
import { resolveTimings } from "./timings.ts";

/** A candidate "baz" that has just started with this lock. Its requests take one millisecond. */
function campaign(lock: LockView | undefined): { candidate: TestCandidate; server: LockServer } {
  const candidate = new TestCandidate({ identity: "baz" });
  const server = new LockServer(lock);
  candidate.start();
  return { candidate, server };
}

describe("TestTryAcquireOrRenewLeases", () => {
  interface Row {
    readonly name: string;
    readonly lock: LockView | undefined;
    /** How long the candidate runs. */
    readonly forMs: number;
    readonly leads: boolean;
    readonly holder: string;
    readonly requests: readonly string[];
    readonly transitions: number;
    readonly leaders: readonly (string | undefined)[];
  }
  const bing = (fields = {}) => held(7, "bing", { leaseTransitions: 0, ...fields });
  // There is no watch here, so the candidate polls. client-go also polls, up to 4.4 s apart.
  const polls = (n: number) => Array.from({ length: n }, () => "get");

  it.each<Row>([
    {
      name: "acquire from no object",
      lock: undefined,
      forMs: 10,
      leads: true,
      holder: "baz",
      requests: ["get", "create"],
      transitions: 0,
      leaders: ["baz"],
    },
    {
      name: "acquire from object without annotations",
      lock: view(
        7,
        record({
          holderIdentity: "",
          leaseDurationSeconds: undefined,
          acquireTime: undefined,
          renewTime: undefined,
        }),
      ),
      forMs: 10,
      leads: true,
      holder: "baz",
      requests: ["get", "update"],
      transitions: 1,
      leaders: ["baz"],
    },
    {
      name: "acquire from led object with the lease duration seconds",
      lock: bing({ leaseDurationSeconds: 3 }),
      forMs: 3_010,
      leads: true,
      holder: "baz",
      requests: ["get", "get", "update"],
      transitions: 1,
      leaders: ["bing", undefined, "baz"],
    },
    {
      name: "acquire from unled object",
      lock: released(7),
      forMs: 10,
      leads: true,
      holder: "baz",
      requests: ["get", "update"],
      transitions: 1,
      leaders: ["baz"],
    },
    {
      // The Go test uses a record without a duration, observed in the past. Here the candidate waits the full lease.
      name: "acquire from led, unacked object",
      lock: bing(),
      forMs: 15_010,
      leads: true,
      holder: "baz",
      requests: ["get", ...polls(7), "update"],
      transitions: 1,
      leaders: ["bing", undefined, "baz"],
    },
    {
      // A released lock is free at once, however recent its record is. A lock that was emptied by hand is not.
      name: "acquire from empty led, acked object",
      lock: released(7, { leaseDurationSeconds: 1 }),
      forMs: 10,
      leads: true,
      holder: "baz",
      requests: ["get", "update"],
      transitions: 1,
      leaders: ["baz"],
    },
    {
      name: "don't acquire from led, acked object",
      lock: bing(),
      forMs: 10,
      leads: false,
      holder: "bing",
      requests: ["get"],
      transitions: 0,
      leaders: ["bing"],
    },
    {
      // A direct port of client-go with a millisecond clock would acquire the lock at once.
      name: "don't acquire from led, acked object (duration 0 means our own lease duration)",
      lock: bing({ leaseDurationSeconds: 0 }),
      forMs: 14_000,
      leads: false,
      holder: "bing",
      requests: ["get", ...polls(6)],
      transitions: 0,
      leaders: ["bing"],
    },
    {
      // tenure differs: another process wrote this record with our identity. The candidate waits until it expires and then
      // starts a new term with a new token. leaseTransitions stays the same, as in client-go.
      name: "renew already acquired object",
      lock: held(7, "baz"),
      forMs: 15_010,
      leads: true,
      holder: "baz",
      requests: ["get", ...polls(7), "update"],
      transitions: 0,
      leaders: ["baz", undefined, "baz"],
    },
  ])("$name", (row) => {
    const { candidate, server } = campaign(row.lock);
    candidate.run(row.forMs, server.answer);
    expect(candidate.phase === "leading").toBe(row.leads);
    expect(ofType(candidate.effects, "term-started")).toHaveLength(row.leads ? 1 : 0);
    expect(server.lock?.record.holderIdentity).toBe(row.holder);
    expect(verbs(candidate.effects)).toEqual(row.requests);
    expect(server.lock?.record.leaseTransitions).toBe(row.transitions);
    expect(ofType(candidate.effects, "leader-changed").map(({ leader }) => leader)).toEqual(row.leaders);
  });
});

describe("TestReleaseLeaseLeases", () => {
  it("release acquired lock from no object", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(10, server.answer);
    candidate.stop();
    candidate.workStopped();
    candidate.run(10, server.answer);
    // client-go sends get, create, get, update. tenure releases over the known version and saves the second get.
    expect(verbs(candidate.effects)).toEqual(["get", "create", "update"]);
    expect(server.lock?.record).toMatchObject({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
    });
    expect(ofType(candidate.effects, "leader-changed").map(({ leader }) => leader)).toEqual([
      "baz",
      undefined,
    ]);
    expect(ofType(candidate.effects, "term-ended")).toMatchObject([{ released: true }]);
  });
});

describe("TestReleaseMethodCallsGet", () => {
  it("releases over the known version, and reads the lock only if that fails", () => {
    // client-go must get, because its cached object may be stale. It then ignores who holds the lock it has read.
    // tenure writes only over the version in which it saw its own record. If that is stale, the write conflicts.
    const candidate = leading();
    candidate.workStopped();
    expect(verbs(candidate.effects)).toEqual(["get", "create", "update"]);
    expect(candidate.request).toMatchObject({ purpose: "release", over: { version: "1" } });
    expect(verbs(candidate.conflict())).toEqual(["get"]);
  });
});

describe("TestReleaseRetriesOnConflict", () => {
  it("release still succeeds when the first update conflicts", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(10, server.answer);
    candidate.stop();
    server.annotate();
    candidate.workStopped();
    candidate.run(10, server.answer);
    expect(verbs(candidate.effects)).toEqual(["get", "create", "update", "get", "update"]);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(types(candidate.effects).slice(-3)).toEqual(["term-ended", "stopped", "leader-changed"]);
  });
});

describe("TestReleaseOnCancellation_Leases", () => {
  it("release acquired lock on cancellation of update", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(10, server.answer);
    candidate.wait(2_999);
    expect(candidate.request).toMatchObject({ purpose: "renew" });
    candidate.stop();
    candidate.workStopped();
    candidate.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(ofType(candidate.effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: true }]);
  });

  it("release acquired lock on cancellation of get", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(10, server.answer);
    server.annotate();
    candidate.run(2_991, server.answer);
    expect(candidate.request).toMatchObject({ type: "read" });
    candidate.stop();
    candidate.workStopped();
    candidate.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(ofType(candidate.effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: true }]);
  });
});

describe("TestLeaderElectionConfigValidation", () => {
  it("a valid config: 15/2/1", () => {
    expect(() =>
      resolveTimings({ leaseDuration: "15s", renewDeadline: "2s", retryPeriod: "1s" }),
    ).not.toThrow();
  });
  it("an empty identity", () => expect(checkIdentity("").problems).toHaveLength(1));
  it("the inequalities between the durations, which client-go does not test", () => {
    expect(() => resolveTimings({ leaseDuration: "10s", renewDeadline: "10s" })).toThrow(
      "renewDeadline must be less",
    );
    expect(() => resolveTimings({ renewDeadline: "10s", retryPeriod: "9s" })).toThrow(
      "1.2 times retryPeriod",
    );
  });
});

describe("TestFastPathLeaderElection", () => {
  it("Exercise fast path after lock acquired", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(6_500, server.answer);
    expect(verbs(candidate.effects)).toEqual(["get", "create", "update", "update"]);
  });

  it("Fallback to slow path after fast path fails", () => {
    const { candidate, server } = campaign(undefined);
    candidate.run(3_500, server.answer);
    server.annotate();
    candidate.run(6_000, server.answer);
    expect(verbs(candidate.effects)).toEqual([
      "get",
      "create",
      "update",
      "update",
      "get",
      "update",
      "update",
    ]);
    expect(ofType(candidate.effects, "term-lost")).toEqual([]);
  });
});
