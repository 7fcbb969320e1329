export { nextWakeMs } from "./agenda.ts";
export {
  type AttendanceEffect,
  type AttendanceEvent,
  type AttendanceState,
  attendanceTimings,
  initialAttendance,
  nextAttendanceMs,
  stepAttendance,
} from "./candidates/attendance.ts";
export {
  type CandidacyEffect,
  type CandidacyEvent,
  type CandidacyState,
  initialCandidacy,
  nextCandidacyMs,
  stepCandidacy,
} from "./candidates/candidacy.ts";
export { type Standing, sameStanding, standingOf } from "./candidates/standing.ts";
export { checkIdentity, uniqueIdentity } from "./identity.ts";
export { clockJumpMs } from "./instant.ts";
export { isBefore, leaderAt, termOf, validUntil } from "./queries.ts";
export {
  isRelease,
  type LeaderRecord,
  type LockView,
  microTime,
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
