import { describe, expect, it } from "vitest";
import { nextPhase, type Phase, type PhaseEvent } from "./phase.ts";

const phases: readonly Phase[] = ["follower", "pre-leader", "leader", "pre-follower", "terminating"];

const table: readonly [from: Phase, event: PhaseEvent, to: Phase][] = [
  ["follower", "elected", "pre-leader"],
  ["follower", "ready", "follower"],
  ["follower", "start-failed", "follower"],
  ["follower", "ending", "follower"],
  ["follower", "stopped", "follower"],
  ["pre-leader", "elected", "pre-leader"],
  ["pre-leader", "ready", "leader"],
  ["pre-leader", "start-failed", "follower"],
  ["pre-leader", "ending", "pre-follower"],
  ["pre-leader", "stopped", "pre-leader"],
  ["leader", "elected", "leader"],
  ["leader", "ready", "leader"],
  ["leader", "start-failed", "leader"],
  ["leader", "ending", "pre-follower"],
  ["leader", "stopped", "leader"],
  ["pre-follower", "elected", "pre-follower"],
  ["pre-follower", "ready", "pre-follower"],
  ["pre-follower", "start-failed", "pre-follower"],
  ["pre-follower", "ending", "pre-follower"],
  ["pre-follower", "stopped", "follower"],
  ["terminating", "elected", "terminating"],
  ["terminating", "ready", "terminating"],
  ["terminating", "start-failed", "terminating"],
  ["terminating", "ending", "terminating"],
  ["terminating", "stopped", "terminating"],
];

describe("nextPhase", () => {
  it.each(table)("%s, %s: %s", (from, event, to) => {
    expect(nextPhase(from, event)).toBe(to);
  });

  it.each(phases)("%s, terminate: terminating", (from) => {
    expect(nextPhase(from, "terminate")).toBe("terminating");
  });
});
