/**
 * The supervisor's side of the watchdog: starts the process and sends it messages. It keeps all that a watchdog must know, so
 * that another one can take over at once. The machine decides when.
 */
import type { ChildProcess } from "node:child_process";
import { after, type Clock, type Instant, messageOf } from "@tenure/base";
import { type StartedWatchdog, spawnWatchdog } from "../start-watchdog.ts";
import { type FromWatchdog, messageReader, type ToWatchdog, toLine } from "./protocol.ts";

export interface WatchdogOptions {
  readonly marker: string;
  readonly clock: Clock;
  /** The watchdog has handled all messages before this question. Question 0: it listens. */
  readonly onAnswer: (question: number) => void;
  readonly onEnd: (why: string) => void;
  /** The watchdog killed the child, because the supervisor did not do so in time. */
  readonly onKilled: (pids: readonly number[], sinceMs: number) => void;
  /** The first process, with the same marker. @default one is started */
  readonly started?: StartedWatchdog | undefined;
  /** The command that starts the watchdog. @default this Node, with as little memory as possible */
  readonly argv?: readonly string[];
}

/** How long the watchdog may take to exit. It has nothing left to do then; a stopped one (SIGSTOP) is killed. */
const exitWithinMs = 2_000;

export class Watchdog {
  readonly #options: WatchdogOptions;
  #process: ChildProcess | undefined;
  #folder: string | undefined;
  #files: readonly string[] = [];
  #deadline: Instant | undefined;
  readonly #groups = new Set<number>();

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  start(): void {
    const { marker, started, argv } = this.#options;
    try {
      this.#connect(started?.take() ?? spawnWatchdog(marker, argv));
    } catch (error) {
      this.#options.onEnd(messageOf(error));
    }
  }

  /** Kills a watchdog that does not answer. Its input stays open until it is dead: the end of it would mean that we have ended. */
  kill(): void {
    const child = this.#process;
    this.#process = undefined;
    child?.kill("SIGKILL");
  }

  ask(question: number): void {
    this.#send({ type: "ask", question });
  }

  /** The watchdog removes this folder if the supervisor cannot. */
  setFolder(path: string): void {
    this.#folder = path;
    this.#send({ type: "folder", path });
  }

  /** The watchdog removes these files when it ends a term. */
  setFiles(paths: readonly string[]): void {
    this.#files = paths;
    this.#send({ type: "files", paths });
  }

  /** The watchdog kills the child at this time, unless a newer message arrives. */
  setDeadline(at: Instant | undefined): void {
    this.#deadline = at;
    this.#send(at ? { type: "deadline", at } : { type: "no-deadline" });
  }

  addGroup(group: number): void {
    this.#groups.add(group);
    this.#send({ type: "group", group });
  }

  /** Call this when the group is empty. */
  forgetGroup(group: number): void {
    this.#groups.delete(group);
    this.#send({ type: "forget", group });
  }

  /** Ends the watchdog. Call this only when no process is left and no other child will be started. */
  async close(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
    this.#send({ type: "done" });
    this.#process = undefined;
    child.stdin?.end();
    const cancel = after(this.#options.clock, exitWithinMs, () => child.kill("SIGKILL"));
    await exited;
    cancel();
  }

  #connect(child: ChildProcess): void {
    this.#process = child;
    child.once("error", (error) => this.#onEnd(child, error.message));
    child.once("exit", (code, signal) =>
      this.#onEnd(child, signal ? `it was killed by ${signal}` : `it exited with code ${code}`),
    );
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    const read = messageReader<FromWatchdog>((message) => this.#onMessage(child, message));
    child.stdout?.setEncoding("utf8").on("data", read);
    // The pipe holds these messages until the watchdog reads them.
    if (this.#folder !== undefined) this.setFolder(this.#folder);
    if (this.#files.length > 0) this.setFiles(this.#files);
    if (this.#deadline) this.setDeadline(this.#deadline);
    for (const group of this.#groups) this.#send({ type: "group", group });
  }

  #onMessage(child: ChildProcess, message: FromWatchdog): void {
    if (child !== this.#process) return;
    if (message.type === "killed") this.#options.onKilled(message.pids, message.atMs);
    else this.#options.onAnswer(message.question);
  }

  #onEnd(child: ChildProcess, why: string): void {
    if (child !== this.#process) return;
    this.#process = undefined;
    this.#options.onEnd(why);
  }

  #send(message: ToWatchdog): void {
    if (this.#process?.stdin?.writable) this.#process.stdin.write(toLine(message));
  }
}
