/**
 * One child from its start until it and all its descendants have exited (G3), in whatever group or session they are. `gone`
 * resolves only then.
 *
 * `stop` sends the stop signal to the processes of the kill mode. When the child has exited, it sends the signal to what is
 * left. It sends SIGKILL to all at the given time. Further calls can only make that time earlier. If the child exits by itself,
 * its descendants are killed at once.
 */
import type { ChildProcess } from "node:child_process";
import { after, type Clock } from "@tenure/base";
import type { ChildExit } from "../events.ts";
import { sendSignal } from "../platform.ts";
import { killUntilGone } from "./kill.ts";
import type { ProcessTree } from "./process-tree.ts";
import type { KillMode } from "./stop-signal.ts";

export interface StopResult {
  readonly exit: ChildExit;
  /** Whether SIGKILL was necessary. */
  readonly killed: boolean;
}

interface ChildLifecycleOptions {
  readonly childProcess: ChildProcess;
  readonly pid: number;
  readonly tree: ProcessTree;
  readonly clock: Clock;
  readonly stopSignal: NodeJS.Signals;
  readonly killMode: KillMode;
  /** The process that signals go to, if it is not the child itself. @default the child */
  readonly signalTarget?: (() => number | undefined) | undefined;
  readonly onStopping: (timeoutMs: number) => void;
  readonly onExit: (exit: ChildExit) => void;
  readonly onKill: (pids: readonly number[]) => void;
  readonly onStuck: (pids: readonly number[], sinceMs: number) => void;
}

/** The pauses between scans for descendants that outlive the child. The system does not report their exit. The pauses grow. */
const firstPauseMs = 2;
const longestPauseMs = 100;

/**
 * When the tree is scanned for the first time. That recognises processes which will lose their parents, and the scan at the stop is
 * faster when its code has run before.
 */
const firstScanMs = 500;

export class ChildLifecycle {
  readonly pid: number;
  /** Resolves when the child itself has exited. */
  readonly exited: Promise<ChildExit>;
  /** Resolves when the child and its descendants have exited. */
  readonly gone: Promise<StopResult>;
  readonly #options: ChildLifecycleOptions;
  #exit: ChildExit | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;
  #isStopRequested = false;
  #isEnding = false;
  /** How many scans in a row found no process since the child has exited. */
  #emptyScans = 0;
  #resolveGone: (gone: StopResult) => void = () => {};
  /** Ends the current pause early. */
  #wake: () => void = () => {};

  constructor(options: ChildLifecycleOptions) {
    this.#options = options;
    this.pid = options.pid;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    const cancelScan = after(options.clock, firstScanMs, () => options.tree.find());
    this.exited = new Promise((resolve) => {
      options.childProcess.once("exit", (code, signal) => {
        cancelScan();
        this.#exit = { code: code ?? undefined, signal: signal ?? undefined };
        options.onExit(this.#exit);
        resolve(this.#exit);
        if (!this.#isStopRequested) this.#killAtMs = Number.NEGATIVE_INFINITY;
        else if (this.#askRest() === 0) this.#emptyScans = 1;
        this.#end();
      });
    });
  }

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  /** Sends the stop signal now and SIGKILL after `timeoutMs`. A further call can only make SIGKILL earlier. */
  stop(timeoutMs: number): Promise<StopResult> {
    const { clock, onStopping } = this.#options;
    this.#killAtMs = Math.min(this.#killAtMs, clock.now().monoMs + Math.max(0, timeoutMs));
    if (!this.#isStopRequested && !this.#exit) {
      this.#isStopRequested = true;
      onStopping(timeoutMs);
      if (timeoutMs > 0) this.#ask();
    }
    this.#end();
    return this.gone;
  }

  /** Sends a signal to the child, or to its process group if the kill mode says so. */
  signal(signal: NodeJS.Signals): void {
    const { killMode, signalTarget } = this.#options;
    const target = signalTarget?.() ?? this.pid;
    if (!this.#exit) sendSignal(killMode === "process" ? target : -this.pid, signal);
  }

  #ask(): void {
    const { tree, killMode, stopSignal } = this.#options;
    // Without SIGCONT, a stopped process (SIGSTOP, Ctrl-Z) would not handle the signal.
    const signals = [stopSignal, "SIGCONT"] as const;
    if (killMode === "tree") {
      tree.signal(...signals);
      return;
    }
    // Now, because the death of the child makes orphans, which then have no parent to be recognised by.
    tree.find();
    for (const signal of signals) this.signal(signal);
  }

  /**
   * Asks the processes that the child did not stop before it exited, and that were not asked yet.
   * @returns how many processes are left; undefined if it did not look
   */
  #askRest(): number | undefined {
    const { tree, clock, killMode, stopSignal } = this.#options;
    if (killMode === "tree" || clock.now().monoMs >= this.#killAtMs) return undefined;
    return tree.signal(stopSignal, "SIGCONT");
  }

  #end(): void {
    if (this.#isEnding) {
      this.#wake();
      return;
    }
    this.#isEnding = true;
    void this.#waitAndKill();
  }

  async #waitAndKill(): Promise<void> {
    const { clock, tree, onKill, onStuck } = this.#options;
    let pauseMs = firstPauseMs;
    while (clock.now().monoMs < this.#killAtMs && this.#emptyScans < 2) {
      if (!this.#exit) {
        await this.#pause(undefined);
        continue;
      }
      this.#emptyScans = tree.find().length === 0 ? this.#emptyScans + 1 : 0;
      // The second scan follows at once. It finds what was started during the first, and the successor waits for it.
      if (this.#emptyScans > 0) continue;
      await this.#pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    const killed = this.#emptyScans < 2 ? await killUntilGone(tree, { clock, onKill, onStuck }) : 0;
    // The process table may show the exit a moment before Node reports it.
    const exit = await this.exited;
    tree.forgetGroup(this.pid);
    tree.removeCgroup();
    this.#resolveGone({ exit, killed: killed > 0 || (this.#isStopRequested && exit.signal === "SIGKILL") });
  }

  #pause(ms: number | undefined): Promise<void> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      const atMs = Math.min(
        this.#killAtMs,
        ms === undefined ? Number.POSITIVE_INFINITY : clock.now().monoMs + ms,
      );
      const cancel = Number.isFinite(atMs) ? clock.at(atMs, () => this.#wake()) : () => {};
      this.#wake = () => {
        cancel();
        this.#wake = () => {};
        resolve();
      };
    });
  }
}
