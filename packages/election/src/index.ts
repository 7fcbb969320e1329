export { Candidate, type CandidateParts, type Command, type Notice } from "./candidate.ts";
export type { Clock } from "./clock.ts";
export type { Lock, LockObserver } from "./lock.ts";
