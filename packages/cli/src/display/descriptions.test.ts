import { expect, it } from "vitest";
import { describeChange, describeFlapping } from "./descriptions.ts";

it.each([
  [
    { kind: "leads", leader: "b", other: "a", gapMs: 250, transitions: 1 },
    "b leads (transition 1, after 0.3s without a leader, before: a)",
  ],
  [{ kind: "leads", leader: "a", other: "a", transitions: 1 }, "a leads (transition 1, a new term)"],
  [{ kind: "leads", leader: "a", heldMs: 65_000 }, "a leads (transition 0, for 1m5s so far)"],
  [{ kind: "released", other: "a", heldMs: 9_000 }, "a released the lock after 9s"],
] as const)("describes %j", (change, text) => {
  expect(describeChange({ atMs: 0, ...change })).toBe(text);
});

it("describes flapping", () => {
  expect(describeFlapping({ takeovers: 5, withinMs: 300_000, from: "events" })).toBe(
    "leadership changed 5 times in the last 5m",
  );
});
