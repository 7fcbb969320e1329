import { describe, expect, it } from "vitest";
import type { Orders } from "../record.ts";
import { accepted, held, released } from "../testing/records.ts";
import { config, leading, TestCandidate, waiting } from "../testing/test-candidate.ts";
import type { Config } from "../types.ts";
import { sameStanding, standingOf } from "./standing.ts";

const of = (candidate: TestCandidate, changes: Partial<Config> = {}) =>
  standingOf({ ...config, ...changes }, candidate.state, candidate.at);

const ordered = (orders: Orders) => waiting({ ...held(7), orders });

describe("standingOf", () => {
  it.each<[string, TestCandidate, string, string]>([
    ["a candidate that has not started", new TestCandidate(), "starting", "has not read the lock yet"],
    ["a leader", leading(), "leading", "leads"],
    ["a standby", waiting(held(7, "pod-b")), "waiting", "pod-b leads"],
    ["one whose election is paused", ordered({ paused: true }), "paused", "an operator paused the election"],
    [
      "one that lets another take over",
      ordered(accepted({ transfer: { transitions: 0, to: "pod-c" } })),
      "waiting",
      "an operator transfers leadership to pod-c",
    ],
    [
      "one that takes over by order",
      ordered(accepted({ transfer: { transitions: 0, to: config.identity } })),
      "acquiring",
      "an operator transfers leadership to it",
    ],
    [
      "one that was asked, but has not answered",
      ordered({ transfer: { transitions: 0, to: "pod-c" } }),
      "waiting",
      "b leads",
    ],
  ])("of %s", (_, candidate, name, reason) => expect(of(candidate)).toEqual({ name, reason }));

  it("of a leader that stops its work", () => {
    const candidate = leading();
    candidate.stepDown();
    expect(of(candidate)).toEqual({ name: "ending", reason: "its term is ending (step-down)" });
  });

  it("of one with noFailover, even if nobody leads", () => {
    const changes = { acquireDelayMs: Number.POSITIVE_INFINITY };
    expect(of(waiting(held(7)), changes).name).toBe("no-failover");
    expect(of(waiting(released(7)), changes).name).toBe("no-failover");
  });

  it("of one with a lower priority that waits for a free lock", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.found(released(7));
    expect(of(candidate, { acquireDelayMs: 900 })).toEqual({
      name: "acquiring",
      reason: "waits 900 ms longer than others (priority)",
    });
  });
});

describe("of a candidate that does not take part", () => {
  it("is that it stops, while its last request is under way", () => {
    const candidate = waiting(held(7));
    const state = { ...candidate.state, stopping: true };
    expect(standingOf(config, state, candidate.at)).toEqual({ name: "stopping", reason: "is stopping" });
  });

  it("is that it has not started again, whatever it knows of the lock", () => {
    const { state, at } = waiting(held(7));
    const idle = { ...state, phase: new TestCandidate().state.phase };
    expect(standingOf(config, idle, at).name).toBe("starting");
  });
});

it.each([
  [{ name: "waiting", reason: "b leads" }, { name: "waiting", reason: "b leads" }, true],
  [{ name: "waiting", reason: "b leads" }, { name: "waiting", reason: "c leads" }, false],
  [{ name: "waiting", reason: "b leads" }, { name: "acquiring", reason: "b leads" }, false],
  [undefined, { name: "waiting", reason: "b leads" }, false],
  [{ name: "waiting", reason: "b leads" }, undefined, false],
  [undefined, undefined, true],
] as const)("sameStanding of %j and %j is %s", (a, b, same) => expect(sameStanding(a, b)).toBe(same));
