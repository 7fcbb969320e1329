/** @tenure/testkit: test code that takes part in an election, in virtual time and without a cluster. */
export { VirtualClock } from "@tenure/base/virtual-clock";
export { type Fault, MemoryLock, MemoryServer, type Request, recordOf } from "./memory-lock.ts";
export { newReplica, type Replica, type ReplicaOptions, untilAborted } from "./replica.ts";
export { ScriptedElection, type ScriptedElectionOptions } from "./scripted-election.ts";
