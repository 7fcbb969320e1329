import type { Phase } from "./phase.ts";

/** How a child ended: by its own exit code, or by a signal. */
export interface ChildExit {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

export type ChildState = "stopped" | "starting" | "running" | "stopping";

export type ChildEvent =
  | { readonly type: "started"; readonly pid: number; readonly restarts: number }
  | { readonly type: "ready"; readonly pid: number; readonly tookMs: number }
  /** SIGTERM was sent; after so long comes SIGKILL. */
  | { readonly type: "stopping"; readonly pid: number; readonly timeoutMs: number }
  /** SIGKILL was sent to so many processes. */
  | { readonly type: "killing"; readonly pids: readonly number[] }
  /** The child itself has ended; what it left behind may still be there. */
  | { readonly type: "exited"; readonly pid: number; readonly exit: ChildExit }
  /** Nothing is left of it. `killed`: it took SIGKILL. */
  | { readonly type: "stopped"; readonly pid: number; readonly exit: ChildExit; readonly killed: boolean }
  | { readonly type: "restarting"; readonly delayMs: number; readonly restarts: number; readonly why: string }
  /** Leadership is given up for others to have a chance. */
  | { readonly type: "gave-up"; readonly cooldownMs: number; readonly why: string };

export interface HealthEvent {
  readonly healthy: boolean;
  /** So many checks in a row failed. */
  readonly failures: number;
  /** What the last failed check said. */
  readonly message?: string;
}

/** What can be listened to, in the order in which it happens. */
export interface SupervisorEvents {
  phase: { readonly phase: Phase; readonly from: Phase };
  child: ChildEvent;
  /** At every change: healthy or not, and each failed check. */
  health: HealthEvent;
  /** Something went wrong that the supervisor goes on in spite of. */
  error: { readonly error: Error };
}

export interface ChildStatus {
  readonly state: ChildState;
  readonly pid?: number;
  /** In this term. */
  readonly restarts: number;
  readonly ready: boolean;
  /** Absent when there is no health check, or it has not answered yet. */
  readonly healthy?: boolean;
  readonly startedAt?: string;
  readonly lastExit?: ChildExit;
}

export interface SupervisorStatus {
  readonly phase: Phase;
  readonly child: ChildStatus;
  /** The process that kills the child if this one cannot. */
  readonly watchdog: { readonly running: boolean; readonly pid?: number };
}

/** How a run ended. */
export interface Outcome {
  /** 0 after a clean stop, 1 when the child had to be killed; with onExit "exit" the child's own (128 + n for signal n). */
  readonly exitCode: number;
  /** Whether the last stop took SIGKILL. */
  readonly killed: boolean;
  /** With onExit "exit": how the child ended. */
  readonly childExit?: ChildExit;
  /** One sentence for people, where there is something to say. */
  readonly message?: string;
}
