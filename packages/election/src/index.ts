/** @tenure/election: Kubernetes leader election. Exactly one of N processes runs the work. */
export {
  type Answer,
  type EndReason,
  type Failure,
  type LeaderRecord,
  type LockView,
  presets,
  type RequestKind,
  type Standing,
  type TimingOptions,
} from "@tenure/core";
export type { CoordinatedOptions } from "./coordinated-options.ts";
export { Election } from "./election.ts";
export { ElectionError, type ElectionErrorCode } from "./errors.ts";
export type { ElectionEvents } from "./events.ts";
export type { Health } from "./health.ts";
export type {
  CandidateRegistry,
  CoordinatedCandidate,
  Coordination,
  CoordinationObserver,
  Lock,
  LockObserver,
  LockSpec,
  ShownCandidate,
} from "./lock.ts";
export { ConfigMapLock, EndpointsLock } from "./locks/annotation-lock.ts";
export { LeaseLock } from "./locks/lease-lock.ts";
export { MigrationLock, type MigrationLockOptions } from "./locks/migration-lock.ts";
export type { ObjectLockOptions } from "./locks/object-lock.ts";
export type { Logger } from "./logger.ts";
export type { ElectionMetrics } from "./metrics.ts";
export type { ElectionOptions, RunOptions, StepDownOptions, TermsOptions, Work } from "./options.ts";
export { Semaphore, type SemaphoreEvents, type SemaphoreOptions } from "./shards/semaphore.ts";
export type { SetMetrics } from "./shards/set-metrics.ts";
export type { SetOptions } from "./shards/set-options.ts";
export type { SetObserver, SetStore } from "./shards/set-store.ts";
export type { Shard } from "./shards/shard.ts";
export {
  type OwnedShard,
  type ShardMember,
  Shards,
  type ShardsEvents,
  type ShardsOptions,
  type ShardWork,
} from "./shards/shards.ts";
export type { TaskRefusal, TaskResult } from "./task.ts";
export { type Task, Term } from "./term.ts";
