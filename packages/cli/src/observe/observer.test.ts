import { expect, it } from "vitest";
import { observationOf } from "./observer.ts";

const base = { identity: "a", phase: "leader", healthy: true, message: "leading" };

it.each([
  ["a leader works", base, true],
  ["a follower does not", { ...base, phase: "follower" }, false],
  [
    "a replica that stops its child works",
    { ...base, phase: "pre-follower", child: { state: "stopping" } },
    true,
  ],
  [
    "a replica whose child has stopped does not",
    { ...base, phase: "pre-follower", child: { state: "stopped" } },
    false,
  ],
  [
    "a replica that starts its child works",
    { ...base, phase: "pre-leader", child: { state: "starting" } },
    true,
  ],
  ["a warm standby does not", { ...base, phase: "follower", child: { state: "running" } }, false],
  [
    "a replica that terminates with its child works",
    { ...base, phase: "terminating", child: { state: "stopping" } },
    true,
  ],
])("%s", (_, status, works) => expect(observationOf(status, "n/x", 1)).toMatchObject({ id: "a", works }));

it("what is not the status of a replica is ignored", () => {
  for (const status of [{}, { identity: 7 }, { identity: "a" }, { identity: "", phase: "leader" }])
    expect(observationOf(status, "n/x", 1)).toBeUndefined();
});

it("passes on the token and the deadline", () => {
  expect(observationOf({ ...base, token: "12", leaseSecondsLeft: 9.5 }, "n/x", 1)).toMatchObject({
    token: "12",
    deadlineInMs: 9_500,
  });
});
