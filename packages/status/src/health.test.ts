import { ScriptedElection } from "@tenure/testkit";
import { expect, it } from "vitest";
import { healthOf } from "./health.ts";
import type { SupervisorState } from "./source.ts";

const election = new ScriptedElection();
const health = (state: SupervisorState) =>
  healthOf({ election, supervisor: { status: () => state, on: () => () => {} } });

it("is that of the election if there is no supervisor", () => {
  expect(healthOf({ election })).toEqual({ healthy: true, message: "waiting" });
});

it("is unhealthy while the child runs without a watchdog", () => {
  const watchdog = { running: false };
  expect(health({ child: { state: "running" }, watchdog })).toMatchObject({
    healthy: false,
    message: "the child runs without a watchdog",
  });
  expect(health({ child: { state: "stopped" }, watchdog }).healthy).toBe(true);
  expect(health({ child: { state: "running" }, watchdog: { running: true } }).healthy).toBe(true);
});

it("keeps the reason of an election that is unhealthy", () => {
  const cutOff = new ScriptedElection();
  cutOff.nextHealth = { healthy: false, message: "cut off" };
  const status = () => ({ child: { state: "running" }, watchdog: { running: false } });
  expect(healthOf({ election: cutOff, supervisor: { status, on: () => () => {} } }).message).toBe("cut off");
});
