export { nextWakeMs } from "./agenda.ts";
export { checkIdentity, uniqueIdentity } from "./identity.ts";
export { clockJumpMs } from "./instant.ts";
export { isBefore, leaderAt, termOf, validUntil } from "./queries.ts";
export {
  isRelease,
  type LeaderRecord,
  type LockView,
  type Orders,
  sameRecord,
  type Transfer,
} from "./record.ts";
export { nextSetWakeMs } from "./shards/agenda.ts";
export { setEventOf } from "./shards/membership.ts";
export {
  type HashRange,
  hashOfKey,
  hexHash,
  rangeOfShard,
  shardOfKey,
  shardSelector,
} from "./shards/ranges.ts";
export {
  formatShardMap,
  type Incarnation,
  type MapMember,
  mostShards,
  ownerOf,
  parseShardMap,
  type ShardMap,
} from "./shards/shard-map.ts";
export { initialSetState, stepSet } from "./shards/step.ts";
export type {
  LeaseView,
  MapView,
  SetAnswer,
  SetConfig,
  SetEffect,
  SetEvent,
  SetRequest,
  SetState,
  SetView,
} from "./shards/types.ts";
export { initialState, step } from "./step.ts";
export {
  checkTimings,
  hardDeadlineFor,
  type PresetName,
  presets,
  resolveTimings,
  type TimingOptions,
  type Timings,
  timingWarnings,
} from "./timings.ts";
export type {
  Answer,
  Config,
  Effect,
  EndReason,
  Event,
  Failure,
  RequestKind,
  State,
  WritePurpose,
} from "./types.ts";
