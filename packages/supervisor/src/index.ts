/** @tenure/supervisor: starts the leader's child process, monitors it, stops it and leaves no process behind. */
export { checkHealth, checkReady, parseHealth, parseReady } from "./check/parse.ts";
export type { Check, Ready } from "./check/spec.ts";
export type { SupervisedElection, SupervisedTerm } from "./election-seam.ts";
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
  type OnExit,
  type SupervisorOptions,
  supervisorDefaults,
} from "./options.ts";
export { type ForwardedSignal, Supervisor } from "./supervisor.ts";
