/**
 * One child from its start to the moment when nothing is left of it (G3): of itself, of what it started, and of what that
 * started, in whatever group or session. Only then `gone` resolves.
 *
 * Asked to end: SIGTERM to all, then SIGKILL to all at the given time. The time can only be made shorter. If the child
 * ends by itself, what it left behind is killed at once.
 */
import type { ChildProcess } from "node:child_process";
import type { Clock } from "@tenure/base";
import type { ChildExit } from "../events.ts";
import { sendSignal } from "../platform.ts";
import type { Family } from "./family.ts";
import { killUntilGone } from "./kill.ts";

export interface Gone {
  readonly exit: ChildExit;
  /** Whether it took SIGKILL to end it. */
  readonly killed: boolean;
}

export interface LifeParts {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly family: Family;
  readonly clock: Clock;
  readonly onStopping: (timeoutMs: number) => void;
  readonly onExit: (exit: ChildExit) => void;
  readonly onKill: (pids: readonly number[]) => void;
  readonly onStuck: (pids: readonly number[], sinceMs: number) => void;
}

/** How often to look whether descendants have ended that outlive the child: nobody is told when they do. Ever more seldom. */
const firstLookAgainMs = 2;
const longestLookAgainMs = 100;

export class Life {
  readonly pid: number;
  /** The child itself has ended. */
  readonly exited: Promise<ChildExit>;
  /** Nothing is left. */
  readonly gone: Promise<Gone>;
  readonly #parts: LifeParts;
  #exit: ChildExit | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;
  #isAsked = false;
  #isEnding = false;
  #resolveGone: (gone: Gone) => void = () => {};
  /** Ends the current pause, because something happened. */
  #wake: () => void = () => {};

  constructor(parts: LifeParts) {
    this.#parts = parts;
    this.pid = parts.pid;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    this.exited = new Promise((resolve) => {
      parts.child.once("exit", (code, signal) => {
        this.#exit = { code: code ?? undefined, signal: signal ?? undefined };
        parts.onExit(this.#exit);
        resolve(this.#exit);
        if (!this.#isAsked) this.#killAtMs = Number.NEGATIVE_INFINITY;
        this.#end();
      });
    });
  }

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  /** SIGTERM now, SIGKILL after `timeoutMs`. Again: sooner, if that is sooner. */
  stop(timeoutMs: number): Promise<Gone> {
    const { clock, family, onStopping } = this.#parts;
    this.#killAtMs = Math.min(this.#killAtMs, clock.now().monoMs + Math.max(0, timeoutMs));
    if (!this.#isAsked && !this.#exit) {
      this.#isAsked = true;
      onStopping(timeoutMs);
      // SIGCONT: one that was stopped (SIGSTOP, Ctrl-Z) would not hear it otherwise.
      if (timeoutMs > 0) family.signal("SIGTERM", "SIGCONT");
    }
    this.#end();
    return this.gone;
  }

  /** To the group of the child. */
  signal(signal: NodeJS.Signals): void {
    if (!this.#exit) sendSignal(-this.pid, signal);
  }

  #end(): void {
    if (this.#isEnding) {
      this.#wake();
      return;
    }
    this.#isEnding = true;
    void this.#seeOut();
  }

  async #seeOut(): Promise<void> {
    const { clock, family, onKill, onStuck } = this.#parts;
    let emptyLooks = 0;
    let lookAgainMs = firstLookAgainMs;
    while (clock.now().monoMs < this.#killAtMs && emptyLooks < 2) {
      if (!this.#exit) {
        await this.#pause(undefined);
        continue;
      }
      emptyLooks = family.find().length === 0 ? emptyLooks + 1 : 0;
      if (emptyLooks === 0) lookAgainMs = Math.min(lookAgainMs * 2, longestLookAgainMs);
      if (emptyLooks < 2) await this.#pause(emptyLooks > 0 ? firstLookAgainMs : lookAgainMs);
    }
    const killed = emptyLooks < 2 ? await killUntilGone(family, { clock, onKill, onStuck }) : 0;
    // The table may show it gone a moment before we are told.
    const exit = await this.exited;
    family.forgetGroup(this.pid);
    this.#resolveGone({ exit, killed: killed > 0 || (this.#isAsked && exit.signal === "SIGKILL") });
  }

  #pause(ms: number | undefined): Promise<void> {
    const { clock } = this.#parts;
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
