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
