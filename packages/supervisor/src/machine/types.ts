/**
 * The types of the supervisor's state machine: its configuration, state, events and effects.
 * The caller performs the effects, sends the events, and owns every clock, process and file.
 */
import type { Instant } from "@tenure/base";
import type { ChildEvent, ChildExit, HealthEvent } from "../events.ts";
import type { OnExit, WhenUnhealthy } from "../options.ts";
import type { ChildEnd } from "./child-end.ts";
import type { Phase } from "./phase.ts";
import type { RestartHistory } from "./restarts.ts";

export interface Config {
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly killMarginMs: number;
  readonly onExit: OnExit;
  readonly maxRestarts: number;
  readonly restartWindowMs: number;
  readonly stableAfterMs: number;
  readonly cooldownMs: number;
  readonly whenUnhealthy: WhenUnhealthy;
  /** The child runs on every replica, and is told when its term begins and ends. */
  readonly warm: boolean;
  readonly health: HealthConfig | undefined;
  /** The time limits of the hooks that are configured. */
  readonly hookTimeoutMs: Readonly<Partial<Record<HookName, number>>>;
}

interface HealthConfig {
  /** The check, as people write it. */
  readonly check: string;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly initialDelayMs: number;
  readonly threshold: number;
}

/**
 * - `preStart` runs before each start of the child. If it fails, the child is not started.
 * - `postStop` runs after the child and its descendants have exited, while the term is still valid.
 * - `recordCompletion` runs when work that is done once is done. No program runs: the caller records that at the lock.
 * - `roleChange` runs when this replica becomes the leader, and when it no longer is. Nothing waits for it.
 */
export type HookName = "preStart" | "postStop" | "recordCompletion" | "roleChange";

type Role = "leader" | "follower";

export interface Term {
  readonly token: bigint;
  /** By then no work of the term may run, on whichever clock it comes first, unless a renewal moves it. */
  readonly deadline: Instant;
  /** The longest time that was left at a renewal: about one lease. */
  readonly lengthMs: number;
  /** Whether a child became ready in this term. */
  readonly hasLed: boolean;
  readonly ending: Ending | undefined;
}

interface Ending {
  /** A term that ends on purpose is still renewed. A lost one is not: its work must stop before the deadline. */
  readonly kind: "on-purpose" | "lost";
  /** When the term began to end. The time to close the gates counts from here. */
  readonly sinceMs: number;
  /** This replica gave up leadership because of its child. */
  readonly gaveUp: boolean;
}

/** What a child does for the present term. A child that is not warm works from its start to its end. */
type Duty =
  | { readonly name: "works" }
  /** Warm only: it runs, but no term is served. */
  | { readonly name: "waits" }
  /** Warm only: it was told that its term ended, and has not confirmed that its work has stopped. */
  | { readonly name: "quiesces"; readonly sinceMs: number };

export interface RunningChild {
  readonly name: "running";
  readonly id: number;
  /** Undefined until the system confirmed the start. */
  readonly pid: number | undefined;
  readonly isReady: boolean;
  /** Why the child is not ready, as of the last check. */
  readonly missing: string;
  readonly duty: Duty;
  /** How the child itself exited. Its descendants may still run. */
  readonly exit: ChildExit | undefined;
  /** Why the child must stop, since when. */
  readonly stop: { readonly end: ChildEnd; readonly sinceMs: number } | undefined;
  /** When SIGKILL is due, as the caller was last told. Infinity: the caller was not told to stop the child. */
  readonly killAtMs: number;
}

export type Child =
  | { readonly name: "none" }
  /** The child ended, and the next one starts after a pause. */
  | { readonly name: "pausing"; readonly untilMs: number }
  /** The watchdog, the caller and the hook have to be ready for the start. */
  | {
      readonly name: "preparing";
      readonly id: number;
      readonly sinceMs: number;
      readonly isPrepared: boolean;
      /** Whether the hook before the start is done, or there is none. */
      readonly isHookDone: boolean;
    }
  | RunningChild
  /** The hook after the stop runs. */
  | { readonly name: "finishing"; readonly end: ChildEnd };

export interface Health {
  /** Undefined until the first check has a result. */
  readonly healthy: boolean | undefined;
  readonly failures: number;
  /** When the next check is due. Infinity: none is. */
  readonly nextMs: number;
  readonly check: { readonly id: number; readonly startedMs: number } | undefined;
}

interface Gates {
  readonly isOpen: boolean;
  /** A close that the caller has not confirmed. */
  readonly closing: { readonly id: number; readonly sinceMs: number } | undefined;
}

interface Watchdog {
  readonly name: "none" | "starting" | "ready";
  /** If there is none: when to start one. */
  readonly startAtMs: number;
  /** How many watchdogs in a row ended before they were ready. */
  readonly failures: number;
  /** When the watchdog was last heard. */
  readonly heardMs: number | undefined;
  /** The last question, and when the first question that is not answered was sent. */
  readonly asked: number;
  readonly askedMs: number;
  readonly answered: number;
  /** When a child without a watchdog is stopped. Infinity: there is a watchdog. */
  readonly unguardedAtMs: number;
  /** The first question that the watchdog gets after it knows the present deadline. */
  readonly guardAsk: number;
}

interface Hook {
  readonly id: number;
  readonly name: HookName;
  readonly endAtMs: number;
  /** The caller was told to stop it. */
  readonly isStopped: boolean;
}

export interface State {
  readonly run: "idle" | "running" | "terminating";
  readonly term: Term | undefined;
  readonly child: Child;
  readonly health: Health;
  readonly gates: Gates;
  readonly watchdog: Watchdog;
  /** The hook that the child waits for. */
  readonly hook: Hook | undefined;
  readonly roleHook: Hook | undefined;
  /** The role that the last `roleChange` hook was told. */
  readonly role: Role;
  readonly history: RestartHistory;
  /** How often the child was restarted in this term. */
  readonly restarts: number;
  /** When the last child was started. */
  readonly startedMs: number;
  /** How often in a row this replica gave up leadership because of its child. */
  readonly giveUps: number;
  /** This replica leads although its child fails, because no replica is healthier. */
  readonly isDegraded: boolean;
  readonly lastExit: ChildExit | undefined;
  /** When SIGKILL was last sent to the present child. */
  readonly killedMs: number;
  /** Whether a child had to be killed while the run was ending. */
  readonly wasKilled: boolean;
  /** With onExit "exit": the end of the child that ended the run. */
  readonly endedBy: ChildEnd | undefined;
  readonly reportedPhase: Phase;
  /** When the caller was to send a tick at the latest. */
  readonly dueMs: number;
  readonly nextId: number;
}

export type Event =
  | { readonly type: "start" }
  /** The run ends: the first SIGTERM. */
  | { readonly type: "terminate" }
  /** Kill a child that is being stopped: the second SIGTERM. */
  | { readonly type: "hurry" }
  | { readonly type: "term-began"; readonly token: bigint; readonly deadline: Instant }
  | { readonly type: "renewed"; readonly deadline: Instant }
  /** The term ends on purpose. */
  | { readonly type: "term-ending" }
  /** The term is lost. Its work must have stopped by this deadline. */
  | { readonly type: "term-lost"; readonly deadline: Instant }
  /** The caller has prepared this start. */
  | { readonly type: "prepared"; readonly id: number }
  /** This start is not needed: work that is done once is already done. */
  | { readonly type: "already-done"; readonly id: number }
  | { readonly type: "child-started"; readonly pid: number }
  | { readonly type: "child-not-started"; readonly why: string; readonly exitCode: number }
  | { readonly type: "child-ready"; readonly id: number }
  | { readonly type: "child-missing"; readonly id: number; readonly message: string }
  /** Warm only: the work of the term has stopped. */
  | { readonly type: "child-quiet" }
  | { readonly type: "child-killing" }
  | { readonly type: "child-exited"; readonly exit: ChildExit }
  /** The child and its descendants have exited. */
  | { readonly type: "child-gone"; readonly exit: ChildExit; readonly killed: boolean }
  /** `failure` is undefined if the check passed. */
  | { readonly type: "check-ended"; readonly id: number; readonly failure: string | undefined }
  | { readonly type: "gates-failed"; readonly why: string }
  | { readonly type: "gates-closed"; readonly id: number }
  /** The hook and its descendants have exited. `failure` is undefined if it succeeded. */
  | { readonly type: "hook-ended"; readonly id: number; readonly failure: string | undefined }
  /** The watchdog has handled all messages before this question. Question 0: it listens. */
  | { readonly type: "watchdog-answered"; readonly question: number }
  | { readonly type: "watchdog-ended"; readonly why: string }
  /** The watchdog killed processes of the child, starting at that monotonic time. */
  | { readonly type: "watchdog-killed"; readonly pids: readonly number[]; readonly sinceMs: number }
  | { readonly type: "tick" };

export type Effect =
  /** Get everything ready that must be ready before the child starts. Answer with "prepared". */
  | { readonly type: "prepare"; readonly id: number }
  | { readonly type: "start-child"; readonly id: number }
  /** Ask the child to stop, and kill it after this time. Each such effect shortens the time. */
  | { readonly type: "stop-child"; readonly timeoutMs: number }
  /** Warm only: tell the child that its term begins or ends. */
  | { readonly type: "tell-child"; readonly what: "begin" | "end" }
  /** Tell the watchdog and the child the deadline of the term. */
  | { readonly type: "publish-deadline"; readonly deadline: Instant }
  /** The watchdog has no deadline to enforce. */
  | { readonly type: "no-deadline" }
  | { readonly type: "run-check"; readonly id: number }
  | { readonly type: "cancel-check"; readonly id: number; readonly why: string }
  | { readonly type: "open-gates" }
  | { readonly type: "renew-gates" }
  | { readonly type: "close-gates"; readonly id: number }
  | { readonly type: "run-hook"; readonly id: number; readonly hook: HookName; readonly role: Role }
  /** Kill the hook and its descendants. */
  | { readonly type: "stop-hook"; readonly id: number }
  | { readonly type: "start-watchdog" }
  /** Kill the watchdog, which does not answer. */
  | { readonly type: "kill-watchdog" }
  | { readonly type: "ask-watchdog"; readonly question: number }
  | { readonly type: "step-down"; readonly cooldownMs: number }
  /** The work of the term has stopped: the election may release the lease. */
  | { readonly type: "finish-term" }
  /** Leave the election. */
  | { readonly type: "end-election" }
  | { readonly type: "phase"; readonly phase: Phase; readonly from: Phase }
  | { readonly type: "child"; readonly event: ChildEvent }
  | { readonly type: "health"; readonly event: HealthEvent }
  | { readonly type: "report"; readonly problem: ReportedProblem };

export type ReportedProblem =
  | { readonly kind: "watchdog-ended"; readonly why: string }
  | { readonly kind: "killed-by-watchdog"; readonly count: number }
  | { readonly kind: "gates-slow"; readonly waitedMs: number }
  | { readonly kind: "hook-failed"; readonly hook: HookName; readonly why: string };
