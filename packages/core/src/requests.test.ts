/** Requests and their answers: late, missing, contradicting; and that none of them makes a loop. */
import { describe, expect, it } from "vitest";
import { annotated, held, record, released, view } from "./testing/records.ts";
import { leading, ofType, type Respond, Rig, types, verbs, waiting } from "./testing/rig.ts";
import type { Answer } from "./types.ts";

describe("requests and answers", () => {
  it("a request that is not answered in time is abandoned and repeated", () => {
    const rig = new Rig();
    rig.start();
    expect(rig.wait(2_500)).toEqual([
      { type: "cancel", id: 1 },
      { type: "failed", during: "read", failure: { kind: "timeout", message: "no answer in time" } },
    ]);
    expect(types(rig.wait(75))).toEqual(["read"]);
  });

  it("a late answer counts if it is a sight of the lock, and does not end the request that is in flight", () => {
    const rig = new Rig();
    rig.start();
    rig.wait(2_600);
    rig.answer({ kind: "found", view: held(7) }, 1);
    expect(rig.leader).toBe("b");
    expect(rig.request?.id).toBe(2);
  });

  it.each<[string, Answer]>([
    ["absent", { kind: "absent" }],
    ["conflict", { kind: "conflict" }],
    ["failure", { kind: "failed", failure: { kind: "server", message: "" } }],
  ])("a late %s is nothing", (_what, answer) => {
    const rig = leading();
    const before = rig.state;
    expect(rig.answer(answer, 1)).toEqual([]);
    expect(rig.state).toEqual(before);
  });

  it("an absence that is older than what was seen since is not believed", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.observed(annotated(2, rig.committed(1, ofType(rig.effects, "write")[0])));
    expect(types(rig.absent())).toEqual(["read"]);
    expect(rig.phase).toBe("leading");
  });

  it.each([
    [64, "is recognised as our own", undefined],
    [65, "is waited out like a stranger's", "a"],
  ])("of %d unanswered writes the first, found in the lock, %s", (count, _what, leader) => {
    const rig = waiting(released(7));
    const [first] = ofType(rig.effects, "write");
    for (let n = 1; n < count; n++) {
      rig.failed();
      rig.freeze(2_000);
      rig.tick();
    }
    expect(ofType(rig.effects, "write")).toHaveLength(count);
    rig.observed(rig.committed(8, first));
    expect(rig.leader).toBe(leader);
  });

  it("401 and 403 are repeated, or by option are the end", () => {
    const patient = new Rig();
    patient.start();
    expect(types(patient.failed("denied"))).toEqual(["failed"]);
    const strict = new Rig({ failWhenDenied: true });
    strict.start();
    expect(strict.failed("denied")).toMatchObject([
      { type: "failed" },
      { type: "refused", reason: "denied", message: "it was denied" },
    ]);
    expect(strict.phase).toBe("idle");
    expect(types(strict.stop())).toEqual(["stopped"]);
  });

  it("a leader is not refused: its term ends by its deadline, if at all", () => {
    const rig = leading({ failWhenDenied: true });
    rig.wait(3_000);
    expect(types(rig.failed("denied"))).toEqual(["failed"]);
    expect(rig.phase).toBe("leading");
  });
});

describe("the watch", () => {
  it("that comes up is a sign of life: silence counts from then", () => {
    const rig = waiting(held(7));
    rig.wait(1_000);
    rig.watchUp();
    expect(rig.nextWakeMs).toBe(6_000);
  });

  it("that says that something changed makes the candidate read, and says nothing about itself", () => {
    const rig = waiting(held(7));
    rig.wait(1_000);
    expect(types(rig.feed({ type: "changed" }))).toEqual(["read"]);
    expect(rig.state.watchUp).toBe(false);
    rig.random = 0.75;
    rig.feed({ type: "changed" });
    rig.found(released(8));
    expect(rig.state.phase).toMatchObject({ staggerMs: 6 });
  });

  it("that says so makes a leader look before it renews", () => {
    const rig = leading();
    expect(types(rig.feed({ type: "changed" }))).toEqual(["read"]);
    expect(types(rig.found(held(2, "b")))).toContain("term-lost");
  });

  it("that says so while a read is in flight makes it read again: that read may be older than the change", () => {
    for (const seen of [held(7), held(8)]) {
      const rig = waiting(held(7));
      rig.wait(2_000);
      rig.feed({ type: "changed" });
      expect(types(rig.found(seen))).toEqual(["read"]);
      expect(types(rig.found(seen))).toEqual([]);
    }
  });
});

/** A round trip takes a millisecond here, so a loop without a pause would make hundreds of requests a second. */
describe("no answer makes a loop without a pause", () => {
  const found = (of: ReturnType<typeof view>): Answer => ({ kind: "found", view: of });
  it.each<[string, Rig, Respond]>([
    [
      "a lock that is never there and cannot be created (its namespace is missing)",
      new Rig(),
      () => ({ kind: "absent" }),
    ],
    [
      "a lock that is not there and yet in the way",
      new Rig(),
      (request) => (request.type === "read" ? { kind: "absent" } : { kind: "conflict" }),
    ],
    [
      "a lock that conflicts with every write",
      new Rig(),
      (request) => (request.type === "read" ? found(released(7)) : { kind: "conflict" }),
    ],
    ["a server that shows an older state than was seen", waiting(held(7)), () => found(held(6))],
    ["a server that swallows writes", waiting(released(7)), () => found(released(7))],
    [
      "a server that swallows a leader's renewals",
      leading(),
      () => found(view(1, record({ holderIdentity: "a" }))),
    ],
    [
      "a server that denies everything",
      new Rig(),
      () => ({ kind: "failed", failure: { kind: "denied", message: "" } }),
    ],
  ])("%s", (_what, rig, respond) => {
    if (rig.phase === "idle") rig.start();
    rig.watchUp();
    const requests = verbs(rig.run(60_000, respond)).length;
    expect(requests).toBeLessThan(60 * 6);
    expect(requests).toBeGreaterThan(10);
  });

  it("a write that was swallowed is looked into", () => {
    const rig = waiting(released(7));
    expect(types(rig.found(released(7)))).toEqual(["read"]);
  });

  it("nothing is missing for an update whose lock was deleted meanwhile: it is read again", () => {
    const rig = waiting(released(7));
    rig.deleted(8);
    expect(types(rig.absent())).toEqual(["read"]);
  });

  it("what is missing for a creation is said", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    expect(ofType(rig.absent(), "failed")).toMatchObject([
      {
        during: "acquire",
        failure: { message: "the lock cannot be created: its namespace or parent does not exist" },
      },
    ]);
  });
});
