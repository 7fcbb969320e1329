import type { Phase } from "./machine/phase.ts";

/** How a child exited: with an exit code, or by a signal. */
export interface ChildExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** The state of the child's process. */
export type ChildProcessState = "stopped" | "starting" | "running" | "stopping";

export type ChildEvent =
  | { readonly type: "started"; readonly pid: number; readonly restarts: number }
  | { readonly type: "ready"; readonly pid: number; readonly tookMs: number }
  /** The stop signal was sent. SIGKILL follows after `timeoutMs`. */
  | { readonly type: "stopping"; readonly pid: number; readonly timeoutMs: number }
  /** SIGKILL was sent to these processes. */
  | { readonly type: "killing"; readonly pids: readonly number[] }
  /** The child itself has exited. Its descendants may still run. */
  | { readonly type: "exited"; readonly pid: number; readonly exit: ChildExit }
  /** The child and its descendants have exited. `killed`: SIGKILL was necessary. */
  | { readonly type: "stopped"; readonly pid: number; readonly exit: ChildExit; readonly killed: boolean }
  | { readonly type: "restarting"; readonly delayMs: number; readonly restarts: number; readonly why: string }
  /** This replica gives up leadership, so that another one can win. */
  | { readonly type: "gave-up"; readonly cooldownMs: number; readonly why: string };

export interface HealthEvent {
  readonly healthy: boolean;
  /** How many checks in a row failed. */
  readonly failures: number;
  /** Why the last check failed. */
  readonly message?: string;
}

/** The events of a supervisor, emitted in the order in which they happen. */
export interface SupervisorEvents {
  phase: { readonly phase: Phase; readonly from: Phase };
  child: ChildEvent;
  /** Emitted when the health changes, and at each failed check. */
  health: HealthEvent;
  /** An error that does not end the run. */
  error: { readonly error: Error };
}

export interface ChildStatus {
  readonly state: ChildProcessState;
  readonly pid?: number;
  /** How often the child was restarted in this term. */
  readonly restarts: number;
  readonly ready: boolean;
  /** Absent if there is no health check, or no result yet. */
  readonly healthy?: boolean;
  readonly startedAt?: string;
  readonly lastExit?: ChildExit;
}

export interface WatchdogStatus {
  /** Whether it listens. A watchdog that does not answer is replaced. */
  readonly running: boolean;
  readonly pid?: number;
  /** How long ago it last answered. While this replica leads, this is less than half a lease. */
  readonly lastHeartbeatMs?: number;
}

export interface SupervisorStatus {
  readonly phase: Phase;
  /** This replica leads although its child fails, because no replica is healthier. */
  readonly degraded: boolean;
  readonly child: ChildStatus;
  /** The process that kills the child if this process cannot. */
  readonly watchdog: WatchdogStatus;
}

/** How a run ended. */
export interface Outcome {
  /** 0 after a clean stop, 1 if the child had to be killed; with onExit "exit" the exit code of the child (128 + n for signal n). */
  readonly exitCode: number;
  /** Whether SIGKILL was necessary in the last stop. */
  readonly killed: boolean;
  /** With onExit "exit": how the child exited. */
  readonly childExit?: ChildExit;
  /** Why the run ended, for people; absent after a clean stop. */
  readonly message?: string;
}
