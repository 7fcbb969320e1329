import type { Writable } from "node:stream";
import type { Clock } from "@tenure/base";
import type { Gate } from "@tenure/traffic";
import type { Check, Ready } from "./check/spec.ts";
import type { Completion, SupervisedElection } from "./election-seam.ts";
import type { KillMode } from "./process/stop-signal.ts";
import type { StartedWatchdog } from "./start-watchdog.ts";

export const exitActions = ["restart", "release", "exit"] as const;
export type OnExit = (typeof exitActions)[number];

export const unhealthyActions = ["yield", "lead"] as const;
export type WhenUnhealthy = (typeof unhealthyActions)[number];

/** Every default of the supervisor, for help texts and checks too. */
export const supervisorDefaults = {
  startTimeoutMs: 60_000,
  stopTimeoutMs: 25_000,
  stopSignal: "SIGTERM",
  killMode: "process",
  killMarginMs: 500,
  onExit: "restart",
  maxRestarts: 5,
  restartWindowMs: 600_000,
  stableAfterMs: 60_000,
  cooldownMs: 30_000,
  whenUnhealthy: "yield",
  healthPeriodMs: 10_000,
  healthTimeoutMs: 1_000,
  healthDelayMs: 0,
  healthThreshold: 3,
  hookTimeoutMs: 10_000,
  /** How much longer each timeout must be than the one inside it. */
  nestingMarginMs: 1_000,
  /** terminationGracePeriodSeconds of a pod that does not set it. */
  podGraceMs: 30_000,
} as const;

export interface HealthOptions {
  /** How to check the child. `parseHealth` reads it from text. */
  readonly check: Check;
  /** From the start of one check to the start of the next. @default 10_000 */
  readonly periodMs?: number;
  /** A check that takes longer fails. @default 1_000 */
  readonly timeoutMs?: number;
  /** From the moment the child is ready to the first check. @default 0 */
  readonly initialDelayMs?: number;
  /** How many failed checks in a row make the child unhealthy. @default 3 */
  readonly threshold?: number;
}

export interface HookOptions {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** A hook that takes longer is killed. @default 10_000 */
  readonly timeoutMs?: number;
}

export interface Hooks {
  /** Runs before each start of the child. If it fails, the child is not started. @default none */
  readonly preStart?: HookOptions;
  /** Runs after the child and its descendants have exited, while the term is still valid. @default none */
  readonly postStop?: HookOptions;
  /** Runs when this replica becomes the leader or no longer is, with TENURE_ROLE leader or follower. @default none */
  readonly roleChange?: HookOptions;
}

export interface SupervisorOptions {
  /** Must have `onOverrun: "report"` and `stopTimeout: false`, because the supervisor kills the child itself. */
  readonly election: SupervisedElection;
  /** namespace/name of the lock, for the child's TENURE_ELECTION. @default absent */
  readonly electionName?: string;
  /** The program that the leader runs. It is looked up in PATH. */
  readonly command: string;
  /** @default none */
  readonly args?: readonly string[];
  /** Added to the environment that the child inherits. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working directory of this process */
  readonly cwd?: string;
  /** The user and the group that the child runs as; needs root. @default those of this process */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Printed before each line of the child's output. Without it, the child writes directly to our stdout and stderr. @default none */
  readonly logPrefix?: string;
  /** Where prefixed output goes. @default stdout of this process */
  readonly stdout?: Writable;
  /** @default stderr of this process */
  readonly stderr?: Writable;
  /** When the child is ready. `parseReady` reads it from text. @default { kind: "spawn" } */
  readonly ready?: Ready;
  /** How long the child may take to become ready. @default 60_000 */
  readonly startTimeoutMs?: number;
  /** How long the child may take to stop when the term ends on purpose. After that it is killed. @default 25_000 */
  readonly stopTimeoutMs?: number;
  /** The signal that asks the child to stop. @default "SIGTERM" */
  readonly stopSignal?: NodeJS.Signals;
  /** Which processes get that signal first. SIGKILL always goes to the child and all its descendants. @default "process" */
  readonly killMode?: KillMode;
  /** How long before the hard deadline of a lost term the child is killed. @default 500 */
  readonly killMarginMs?: number;
  /** @default none */
  readonly health?: HealthOptions;
  /** What to do when the child exits while this replica leads. @default "restart" */
  readonly onExit?: OnExit;
  /**
   * The work is done once: a child that exits with 0 by itself ends the run after its completion is recorded, and no child is
   * started if that is already recorded. Another exit is handled by `onExit`. @default none
   */
  readonly completion?: Completion;
  /** How many restarts are allowed within the window. The next failure gives up leadership. @default 5 */
  readonly maxRestarts?: number;
  /** @default 600_000 */
  readonly restartWindowMs?: number;
  /** After a child ran for this long, the next restart happens without delay. @default 60_000 */
  readonly stableAfterMs?: number;
  /**
   * How long this replica stays out of the election after it gave up leadership. The time doubles, up to 16 times, with every
   * time in a row that it gives up because of its child. @default 30_000
   */
  readonly cooldownMs?: number;
  /**
   * What to do if this replica is elected again after it gave up because of its child, and its child still fails. "yield": give
   * up again. "lead": no replica is healthier, so keep leadership and keep restarting the child. @default "yield"
   */
  readonly whenUnhealthy?: WhenUnhealthy;
  /**
   * Run the child on every replica, and tell it when its term begins and ends: `{"tenure":"begin","token":"42"}` and
   * `{"tenure":"end"}`, as messages of Node's IPC channel. The child answers "stopped" when its work has stopped, or is killed.
   * @default false
   */
  readonly warm?: boolean;
  /** Programs that run around the child. @default none */
  readonly hooks?: Hooks;
  /** Opened when the child is ready, closed when it has stopped. @default none */
  readonly gates?: readonly Gate[];
  /** The folder of the child's deadline file. @default the system's folder for temporary files */
  readonly deadlineFolder?: string;
  /** A watchdog that `startWatchdog` of @tenure/supervisor/start-watchdog has started already. @default one is started by `run` */
  readonly watchdog?: StartedWatchdog;
  /** @default the machine's clock */
  readonly clock?: Clock;
}
