/** @tenure/election: of N processes exactly one works. */
export { type Clock, Emitter, systemClock } from "@tenure/base";
export {
  type EndReason,
  type Failure,
  type LeaderRecord,
  type LockView,
  type Orders,
  presets,
  type TimingOptions,
} from "@tenure/core";
export { Candidate, type CandidateParts, type Command, type Notice } from "./candidate.ts";
export { Election, type Health } from "./election.ts";
export { ElectionError, type ElectionErrorCode } from "./errors.ts";
export type { ElectionEvents } from "./events.ts";
export type { Lock, LockObserver, LockSpec } from "./lock.ts";
export { ConfigMapLock, EndpointsLock, leaderAnnotation } from "./locks/annotation.ts";
export { LeaseLock } from "./locks/lease.ts";
export { MigrationLock } from "./locks/migration.ts";
export { checkLockOptions, type ObjectLockOptions } from "./locks/object-lock.ts";
export { orderAnnotations, ordersFrom } from "./locks/orders.ts";
export type { ElectionMetrics } from "./metrics.ts";
export type { ElectionOptions, RunOptions, Work } from "./options.ts";
export { Term } from "./term.ts";
