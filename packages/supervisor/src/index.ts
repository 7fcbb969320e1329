/** @tenure/supervisor: starts the leader's child process, monitors it, stops it and leaves no process behind. */
export { checkHealth, checkReady, parseHealth, parseReady } from "./check/parse.ts";
export type { Check, Ready } from "./check/spec.ts";
export type { Completion, SupervisedElection, SupervisedTerm } from "./election-seam.ts";
export { SupervisorError, type SupervisorErrorCode } from "./errors.ts";
export type {
  ChildEvent,
  ChildExit,
  ChildProcessState,
  ChildStatus,
  HealthEvent,
  Outcome,
  SupervisorEvents,
  SupervisorStatus,
  WatchdogStatus,
} from "./events.ts";
export type { Phase } from "./machine/phase.ts";
export { checkNesting, type Timeouts } from "./nesting.ts";
export {
  exitActions,
  type HealthOptions,
  type HookOptions,
  type Hooks,
  type OnExit,
  type SupervisorOptions,
  supervisorDefaults,
  unhealthyActions,
  type WhenUnhealthy,
} from "./options.ts";
export { checkStopSignal, type KillMode, killModes } from "./process/stop-signal.ts";
export {
  type ManagedProgram,
  ProcessManager,
  type ProcessManagerOptions,
  type Stopped,
} from "./process-manager.ts";
export { type ForwardedSignal, Supervisor } from "./supervisor.ts";
