/** @tenure/supervisor: the leader's child process, started, watched, stopped and never left behind. */
export { checkHealth, checkReady, parseHealth, parseReady } from "./check/parse.ts";
export type { Check, Ready } from "./check/spec.ts";
export { SupervisorError, type SupervisorErrorCode } from "./errors.ts";
export type {
  ChildEvent,
  ChildExit,
  ChildState,
  ChildStatus,
  HealthEvent,
  Outcome,
  SupervisorEvents,
  SupervisorStatus,
} from "./events.ts";
export type { Gate } from "./gate.ts";
export { checkNesting, type Timeouts } from "./nesting.ts";
export type { ElectionLike, TermLike } from "./office.ts";
export {
  exitActions,
  type HealthOptions,
  type OnExit,
  type SupervisorOptions,
  supervisorDefaults,
} from "./options.ts";
export type { Phase } from "./phase.ts";
export { type ForwardedSignal, Supervisor } from "./supervisor.ts";
