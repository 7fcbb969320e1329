/**
 * The decisions of the watchdog: when to kill, and when to go. Upholds G1 and G3 where the supervisor cannot: it is dead
 * (SIGKILL, out of memory), or it does not run (SIGSTOP, a blocked event loop) while its deadline passes.
 */
import type { Clock, Instant } from "@tenure/base";
import type { Family } from "../process/family.ts";
import { killUntilGone } from "../process/kill.ts";
import type { FromWatchdog, ToWatchdog } from "./protocol.ts";

export interface GuardParts {
  readonly family: Family;
  readonly clock: Clock;
  readonly tell: (message: FromWatchdog) => void;
  readonly remove: (folder: string) => void;
  readonly end: () => void;
}

/**
 * How often both clocks are looked at while there is a deadline. A timer counts monotonic time only, which stands still
 * while the machine is suspended. It is half of the usual time to kill, which lies between this deadline and the hard one.
 */
const lookMs = 250;
/** Somebody may be between fork and exec, where the marker is not yet to be seen. */
const birthMs = 1_000;
/** What cannot be killed for so long cannot be killed by us. */
const giveUpMs = 600_000;

export class Guard {
  readonly #parts: GuardParts;
  #deadline: Instant | undefined;
  #folder: string | undefined;
  #isKilling = false;
  #isAlone = false;
  #cancelLook = () => {};

  constructor(parts: GuardParts) {
    this.#parts = parts;
  }

  hear(message: ToWatchdog): void {
    const { family, tell, end } = this.#parts;
    switch (message.type) {
      case "deadline":
        this.#deadline = message.at;
        this.#look();
        return;
      case "folder":
        this.#folder = message.path;
        return;
      case "group":
        family.addGroup(message.group);
        return;
      case "forget":
        family.forgetGroup(message.group);
        return;
      case "idle":
        this.#deadline = undefined;
        this.#cancelLook();
        for (const group of family.groups) family.forgetGroup(group);
        return;
      case "ask":
        tell({ type: "ready" });
        return;
      case "done":
        end();
        return;
    }
  }

  /** The supervisor is no more. */
  async supervisorEnded(): Promise<void> {
    const { family, clock, remove, end } = this.#parts;
    const startedMs = clock.now().monoMs;
    this.#isAlone = true;
    this.#cancelLook();
    await killUntilGone(family, {
      clock,
      atLeastMs: birthMs,
      isGivenUp: () => clock.now().monoMs > startedMs + giveUpMs,
    });
    if (this.#folder !== undefined) remove(this.#folder);
    end();
  }

  #look(): void {
    this.#cancelLook();
    if (this.#isKilling || this.#isAlone || !this.#deadline) return;
    const { clock } = this.#parts;
    const now = clock.now();
    const leftMs = Math.min(this.#deadline.monoMs - now.monoMs, this.#deadline.wallMs - now.wallMs);
    if (leftMs <= 0) void this.#kill();
    else this.#cancelLook = clock.at(now.monoMs + Math.min(leftMs, lookMs), () => this.#look());
  }

  /** Until a newer word: a supervisor that wakes up may have been about to start a child. */
  async #kill(): Promise<void> {
    const { family, clock, tell } = this.#parts;
    const { monoMs: startedMs } = clock.now();
    const missed = this.#deadline;
    this.#isKilling = true;
    const killed: number[] = [];
    await killUntilGone(family, {
      clock,
      atLeastMs: birthMs,
      isGivenUp: () =>
        this.#isAlone || this.#deadline !== missed || clock.now().monoMs > startedMs + giveUpMs,
      onKill: (pids) => killed.push(...pids),
    });
    this.#isKilling = false;
    if (killed.length > 0) tell({ type: "killed", pids: killed, atMs: startedMs });
    this.#look();
  }
}
