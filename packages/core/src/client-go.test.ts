/**
 * client-go's own tables (tools/leaderelection 0.36) that concern the algorithm, under the names they have there.
 * Where our rule differs on purpose the name is kept, our behaviour is asserted, and a line says why.
 */
import { describe, expect, it } from "vitest";
import { checkIdentity } from "./identity.ts";
import type { LockView } from "./record.ts";
import { held, record, released, view } from "./testing/records.ts";
import { leading, ofType, Rig, types, verbs } from "./testing/rig.ts";
import { LockServer } from "./testing/server.ts";
import { resolveTimings } from "./timings.ts";

/** A candidate "baz" that has just been started against such a lock; its requests take a millisecond. */
function campaign(lock: LockView | undefined): { rig: Rig; server: LockServer } {
  const rig = new Rig({ identity: "baz" });
  const server = new LockServer(lock);
  rig.start();
  return { rig, server };
}

describe("TestTryAcquireOrRenewLeases", () => {
  interface Row {
    readonly name: string;
    readonly lock: LockView | undefined;
    /** How long the candidate goes on looking. */
    readonly forMs: number;
    readonly leads: boolean;
    readonly holder: string;
    readonly requests: readonly string[];
    readonly transitions: number;
    readonly leaders: readonly (string | undefined)[];
  }
  const bing = (fields = {}) => held(7, "bing", { leaseTransitions: 0, ...fields });
  // Reads in between are polls, for there is no watch here: client-go polls likewise, up to 4.4 s apart.
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
      // In Go the record has no duration here and its observation is set into the past; ours is waited out in full.
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
      // An empty holder is free however fresh its record is, if it was let go of and not emptied by hand.
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
      // The trap for a port: with 0 as the duration and clocks of milliseconds it would be taken at once.
      name: "don't acquire from led, acked object (duration 0 means our own, not none)",
      lock: bing({ leaseDurationSeconds: 0 }),
      forMs: 14_000,
      leads: false,
      holder: "bing",
      requests: ["get", ...polls(6)],
      transitions: 0,
      leaders: ["bing"],
    },
    {
      // Ours differs: a record with our name that this process did not write is a stranger's. It is waited out, and then
      // taken as a new term with a new token (W6); the transitions are counted as client-go counts them.
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
    const { rig, server } = campaign(row.lock);
    rig.run(row.forMs, server.answer);
    expect(rig.phase === "leading").toBe(row.leads);
    expect(ofType(rig.effects, "term-started")).toHaveLength(row.leads ? 1 : 0);
    expect(server.lock?.record.holderIdentity).toBe(row.holder);
    expect(verbs(rig.effects)).toEqual(row.requests);
    expect(server.lock?.record.leaseTransitions).toBe(row.transitions);
    expect(ofType(rig.effects, "leader-changed").map(({ leader }) => leader)).toEqual(row.leaders);
  });
});

describe("TestReleaseLeaseLeases", () => {
  it("release acquired lock from no object", () => {
    const { rig, server } = campaign(undefined);
    rig.run(10, server.answer);
    rig.stop();
    rig.workStopped();
    rig.run(10, server.answer);
    // client-go asks get, create, get, update: we release over the version that we know, which saves the second get.
    expect(verbs(rig.effects)).toEqual(["get", "create", "update"]);
    expect(server.lock?.record).toMatchObject({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      leaseTransitions: 0,
    });
    expect(ofType(rig.effects, "leader-changed").map(({ leader }) => leader)).toEqual(["baz", undefined]);
    expect(ofType(rig.effects, "term-ended")).toMatchObject([{ released: true }]);
  });
});

describe("TestReleaseMethodCallsGet", () => {
  it("the release is written over the version that is known, and read first only when that fails", () => {
    // client-go must Get, for its cached object may be stale, and then trusts its older belief about the holder (W3).
    // Ours is compare-and-swap on the very record that we saw as our own: a stale belief fails and is then looked into.
    const rig = leading();
    rig.workStopped();
    expect(verbs(rig.effects)).toEqual(["get", "create", "update"]);
    expect(rig.request).toMatchObject({ purpose: "release", over: { version: "1" } });
    expect(verbs(rig.conflict())).toEqual(["get"]);
  });
});

describe("TestReleaseRetriesOnConflict", () => {
  it("release still succeeds when the first update conflicts", () => {
    const { rig, server } = campaign(undefined);
    rig.run(10, server.answer);
    rig.stop();
    server.annotate();
    rig.workStopped();
    rig.run(10, server.answer);
    expect(verbs(rig.effects)).toEqual(["get", "create", "update", "get", "update"]);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(types(rig.effects).slice(-3)).toEqual(["term-ended", "stopped", "leader-changed"]);
  });
});

describe("TestReleaseOnCancellation_Leases", () => {
  it("release acquired lock on cancellation of update", () => {
    const { rig, server } = campaign(undefined);
    rig.run(10, server.answer);
    rig.wait(2_999);
    expect(rig.request).toMatchObject({ purpose: "renew" });
    rig.stop();
    rig.workStopped();
    rig.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(ofType(rig.effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: true }]);
  });

  it("release acquired lock on cancellation of get", () => {
    const { rig, server } = campaign(undefined);
    rig.run(10, server.answer);
    server.annotate();
    rig.run(2_992, server.answer);
    expect(rig.request).toMatchObject({ type: "read" });
    rig.stop();
    rig.workStopped();
    rig.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
    expect(ofType(rig.effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: true }]);
  });
});

describe("TestLeaderElectionConfigValidation", () => {
  it("a valid config: 15/2/1", () => {
    expect(() =>
      resolveTimings({ leaseDuration: "15s", renewDeadline: "2s", retryPeriod: "1s" }),
    ).not.toThrow();
  });
  it("an empty identity", () => expect(checkIdentity("").problems).toHaveLength(1));
  it("the inequalities, which have no test upstream", () => {
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
    const { rig, server } = campaign(undefined);
    rig.run(6_500, server.answer);
    expect(verbs(rig.effects)).toEqual(["get", "create", "update", "update"]);
  });

  it("Fallback to slow path after fast path fails", () => {
    const { rig, server } = campaign(undefined);
    rig.run(3_500, server.answer);
    server.annotate();
    rig.run(6_000, server.answer);
    expect(verbs(rig.effects)).toEqual(["get", "create", "update", "update", "get", "update", "update"]);
    expect(ofType(rig.effects, "term-lost")).toEqual([]);
  });
});
