/** All faults that the doctor must find, and that docs/tasks/diagnose.md lists, by what they are about. */
import type { Fault } from "./faults/fault.ts";
import { lockFaults } from "./faults/locks.ts";
import { replicaFaults } from "./faults/replicas.ts";
import { rightsFaults } from "./faults/rights.ts";
import { rolloutFaults } from "./faults/rollouts.ts";
import { surroundingsFaults } from "./faults/surroundings.ts";
import { trafficFaults } from "./faults/traffic.ts";

export const faults: Readonly<Record<string, readonly Fault[]>> = {
  Rights: rightsFaults,
  "Rollouts, drains and restarts": rolloutFaults,
  Replicas: replicaFaults,
  "The lock": lockFaults,
  Traffic: trafficFaults,
  "The API server": surroundingsFaults,
};
