import type { Writable } from "node:stream";
import type { Clock } from "@tenure/base";
import type { Check, Ready } from "./check/spec.ts";
import type { SupervisedElection } from "./election-seam.ts";
import type { SupervisedGate } from "./gates.ts";

export type OnExit = "restart" | "release" | "exit";

export interface HealthOptions {
  /** What is asked; `parseHealth` reads it from text. */
  readonly check: Check;
  /** From the start of one check to the start of the next. @default 10_000 */
  readonly periodMs?: number;
  /** A check that takes longer has failed. @default 1_000 */
  readonly timeoutMs?: number;
  /** From ready to the first check. @default 0 */
  readonly initialDelayMs?: number;
  /** So many failures in a row make the child unhealthy. @default 3 */
  readonly threshold?: number;
}

export interface SupervisorOptions {
  /** Set up with `onOverrun: "report"`: it is the supervisor that kills. */
  readonly election: SupervisedElection;
  /** namespace/name, for the child's TENURE_ELECTION. @default absent */
  readonly electionName?: string;
  /** The program that the leader runs. Looked for in PATH. */
  readonly command: string;
  /** @default none */
  readonly args?: readonly string[];
  /** On top of what the child inherits. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working directory of this process */
  readonly cwd?: string;
  /** Put before each line of the child's output. Without it the child writes straight to our stdout and stderr. @default none */
  readonly logPrefix?: string;
  /** Where prefixed output goes. @default this process's */
  readonly stdout?: Writable;
  /** @default this process's */
  readonly stderr?: Writable;
  /** How the child says that it is ready; `parseReady` reads it from text. @default { kind: "spawn" } */
  readonly ready?: Ready;
  /** How long the child may take to become ready. @default 60_000 */
  readonly startTimeoutMs?: number;
  /** How long the child may take to stop when the term ends on purpose. Then it is killed. @default 25_000 */
  readonly stopTimeoutMs?: number;
  /** How long before the hard deadline of a lost term SIGKILL is sent; by the deadline nothing must be left. @default 500 */
  readonly killMarginMs?: number;
  /** @default none */
  readonly health?: HealthOptions;
  /** What to do when the child ends by itself while it leads. @default "restart" */
  readonly onExit?: OnExit;
  /** So many restarts are made within the window; the next failure gives leadership up. @default 5 */
  readonly maxRestarts?: number;
  /** @default 600_000 */
  readonly restartWindowMs?: number;
  /** A child that ran so long was stable: the next restart is at once again. @default 60_000 */
  readonly stableAfterMs?: number;
  /** How long this replica keeps out of the election after it gave leadership up. @default 30_000 */
  readonly cooldownMs?: number;
  /** Ways for traffic. @default none */
  readonly gates?: readonly SupervisedGate[];
  /** Folder in which the child's deadline file is made. @default the system's folder for temporary files */
  readonly deadlineFolder?: string;
  /** @default the machine's */
  readonly clock?: Clock;
}
