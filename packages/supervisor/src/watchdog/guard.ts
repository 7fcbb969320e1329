/**
 * The decisions of the watchdog: when to kill and when to exit. Upholds G1 and G3 when the supervisor cannot: because it is dead
 * (SIGKILL, out of memory), or because it does not run (SIGSTOP, a blocked event loop) while its deadline passes.
 */
import type { Clock, Instant } from "@tenure/base";
import { killUntilGone } from "../process/kill.ts";
import type { ProcessTree } from "../process/process-tree.ts";
import type { FromWatchdog, ToWatchdog } from "./protocol.ts";

interface GuardOptions {
  readonly tree: ProcessTree;
  readonly clock: Clock;
  readonly send: (message: FromWatchdog) => void;
  /** Removes a file or a folder. */
  readonly remove: (path: string) => void;
  readonly exit: () => void;
}

/**
 * How often to compare both clocks with the deadline. A timer counts only monotonic time, which stands still while the machine
 * is suspended. The period is half of the default kill margin, which separates this deadline from the hard one.
 */
const checkMs = 250;
/** Keep killing for this long: a process between fork and exec does not show the marker yet. */
const startingMs = 1_000;
/** Stop trying to kill a process after this long. */
const giveUpMs = 600_000;

export class Guard {
  readonly #options: GuardOptions;
  #deadline: Instant | undefined;
  #folder: string | undefined;
  #files: readonly string[] = [];
  #isKilling = false;
  #isSupervisorGone = false;
  #cancelCheck = () => {};

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  onMessage(message: ToWatchdog): void {
    const { tree, send, exit } = this.#options;
    switch (message.type) {
      case "deadline":
        this.#deadline = message.at;
        this.#checkDeadline();
        return;
      case "folder":
        this.#folder = message.path;
        return;
      case "group":
        tree.addGroup(message.group);
        return;
      case "forget":
        tree.forgetGroup(message.group);
        return;
      case "files":
        this.#files = message.paths;
        return;
      case "no-deadline":
        this.#deadline = undefined;
        this.#cancelCheck();
        return;
      case "ask":
        send({ type: "answer", question: message.question });
        return;
      case "done":
        exit();
        return;
    }
  }

  /** Kills the tree and exits, because the supervisor has ended. */
  async onSupervisorEnd(): Promise<void> {
    const { tree, clock, remove, exit } = this.#options;
    const startedMs = clock.now().monoMs;
    this.#isSupervisorGone = true;
    this.#cancelCheck();
    this.#removeFiles();
    await killUntilGone(tree, {
      clock,
      atLeastMs: startingMs,
      shouldGiveUp: () => clock.now().monoMs > startedMs + giveUpMs,
    });
    if (this.#folder !== undefined) remove(this.#folder);
    exit();
  }

  #checkDeadline(): void {
    this.#cancelCheck();
    if (this.#isKilling || this.#isSupervisorGone || !this.#deadline) return;
    const { clock } = this.#options;
    const now = clock.now();
    const leftMs = Math.min(this.#deadline.monoMs - now.monoMs, this.#deadline.wallMs - now.wallMs);
    if (leftMs <= 0) void this.#kill();
    else this.#cancelCheck = clock.at(now.monoMs + Math.min(leftMs, checkMs), () => this.#checkDeadline());
  }

  /** Kills until there is a newer deadline: a supervisor that resumes may have been about to start a child. */
  async #kill(): Promise<void> {
    const { tree, clock, send } = this.#options;
    const { monoMs: startedMs } = clock.now();
    const missed = this.#deadline;
    this.#isKilling = true;
    this.#removeFiles();
    const killed: number[] = [];
    await killUntilGone(tree, {
      clock,
      atLeastMs: startingMs,
      shouldGiveUp: () =>
        this.#isSupervisorGone || this.#deadline !== missed || clock.now().monoMs > startedMs + giveUpMs,
      onKill: (pids) => killed.push(...pids),
    });
    this.#isKilling = false;
    if (killed.length > 0) send({ type: "killed", pids: killed, atMs: startedMs });
    this.#checkDeadline();
  }

  /** They tell others that this replica leads. No client may be sent to a term that is over. */
  #removeFiles(): void {
    for (const path of this.#files) this.#options.remove(path);
  }
}
