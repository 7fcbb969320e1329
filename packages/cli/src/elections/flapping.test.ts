import { expect, it } from "vitest";
import { flappingOf, lastTakeovers } from "./flapping.ts";
import { stateOf } from "./state.ts";

const nowMs = Date.UTC(2030, 0, 1, 12);
const at = (agoMs: number) => new Date(nowMs - agoMs).toISOString();
const became = (agoMs: number, more = {}) => ({
  reason: "LeaderElection",
  message: "pod-a became leader",
  firstTimestamp: at(agoMs),
  lastTimestamp: at(agoMs),
  ...more,
});

function lease(transitions: number, createdAgoMs: number) {
  const metadata = { name: "x", namespace: "y", creationTimestamp: at(createdAgoMs) };
  const state = stateOf("lease", { metadata, spec: { leaseTransitions: transitions } }, nowMs);
  if (!state) throw new Error("no state");
  return state;
}

it("five takeovers within ten minutes are flapping, five takeovers an hour ago are not", () => {
  const events = [1, 2, 3, 4, 5].map((minute) => became(minute * 60_000));
  expect(flappingOf(lease(9, 1e9), events, nowMs)).toEqual({
    takeovers: 5,
    withinMs: 5 * 60_000,
    from: "events",
  });
  expect(flappingOf(lease(9, 1e9), events.slice(1), nowMs)).toBeUndefined();
  const old = events.map((_, index) => became(3_600_000 + index));
  expect(flappingOf(lease(9, 1e9), old, nowMs)).toBeUndefined();
});

it("an event with a count counts that many times", () => {
  const event = became(60_000, { count: 8, firstTimestamp: at(240_000) });
  expect(flappingOf(lease(9, 1e9), [event], nowMs)?.takeovers).toBe(8);
});

it("without Events, the transitions of a young lock count", () => {
  expect(flappingOf(lease(6, 120_000), [], nowMs)).toMatchObject({ takeovers: 6, from: "transitions" });
  expect(flappingOf(lease(6, 3_600_000), [], nowMs)).toBeUndefined();
});

it("the last takeovers are sorted, newest first", () => {
  expect(lastTakeovers([became(60_000), became(5_000)], 1)).toEqual([
    { message: "pod-a became leader", atMs: nowMs - 5_000 },
  ]);
});
