/** For the other packages of this repository. Not part of the public API: it changes without notice. */
export { runCheck } from "./check/run.ts";
export type { Check } from "./check/spec.ts";
export {
  exitCodeOf,
  type GuardedProcess,
  GuardedProcesses,
  killLeftProcesses,
  processStart,
} from "./guarded-processes.ts";
export type { Effect, Event } from "./machine/types.ts";
export { MachineLoop } from "./machine-loop.ts";
export { type Action, Play } from "./model/play.ts";
export { startProgram } from "./process/spawn.ts";
