/**
 * The supervisor's end of its watchdog. Knows everything that the watchdog must know, so that another one can be put in its
 * place at any time; one that dies is replaced at once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Clock, Instant } from "@tenure/base";
import { inWords, SupervisorError } from "../errors.ts";
import { inheritedEnvironment, ownPid } from "../platform.ts";
import { sleep } from "../process/kill.ts";
import { type FromWatchdog, messageReader, type ToWatchdog, toLine } from "./protocol.ts";

export interface WatchdogParts {
  readonly marker: string;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
  /** It killed the child, because we did not in time. */
  readonly onKilled: (pids: readonly number[], atMs: number) => void;
  /** It died, and there was no other in time. */
  readonly onUnguarded: () => void;
  /** How it is started. @default this Node, with as little memory as it can do with */
  readonly argv?: readonly string[];
}

/** A small heap and one thread to clean it: it sleeps all its life. */
const frugalFlags = ["--max-old-space-size=16", "--max-semi-space-size=1", "--v8-pool-size=1"];
/** A watchdog that says nothing for so long will not. */
const readyWithinMs = 10_000;
/** So long a child may run without a watchdog. */
const replacedWithinMs = 5_000;
/** It has nothing left to do; one that does not go (somebody stopped it) is made to. */
const goneWithinMs = 2_000;
/** A watchdog that cannot live is not started as fast as the machine can: after 250 ms, 500 ms … 30 s. */
const firstAgainMs = 250;
const longestAgainMs = 30_000;

export class Watchdog {
  readonly #parts: WatchdogParts;
  #process: ChildProcess | undefined;
  #isReady = false;
  #isClosed = false;
  #againMs = firstAgainMs;
  #folder: string | undefined;
  #deadline: Instant | undefined;
  readonly #groups = new Set<number>();
  readonly #waiting = new Set<() => void>();

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  start(): void {
    if (!this.#process && !this.#isClosed) this.#spawn();
  }

  /** Resolves when there is one that listens; with false when there is none in time. */
  async ready(withinMs = readyWithinMs): Promise<boolean> {
    return this.#isReady || this.#nextReady(withinMs);
  }

  /**
   * Resolves when all that was said so far is heard: one that was killing for an older deadline has stopped, and does not
   * take a new child for what is left of the last one. With false when it does not answer in time.
   */
  async heard(withinMs = readyWithinMs): Promise<boolean> {
    this.#tell({ type: "ask" });
    return this.#nextReady(withinMs);
  }

  async #nextReady(withinMs: number): Promise<boolean> {
    const { clock } = this.#parts;
    let isTold = false;
    let cancel = () => {};
    let onReady = () => {};
    await new Promise<void>((resolve) => {
      onReady = () => {
        isTold = true;
        resolve();
      };
      this.#waiting.add(onReady);
      cancel = clock.at(clock.now().monoMs + withinMs, resolve);
    });
    cancel();
    this.#waiting.delete(onReady);
    return isTold;
  }

  /** Is removed when we are no more. */
  setFolder(path: string): void {
    this.#folder = path;
    this.#tell({ type: "folder", path });
  }

  /** By then the child must be dead, unless a newer word comes. */
  setDeadline(at: Instant): void {
    this.#deadline = at;
    this.#tell({ type: "deadline", at });
  }

  addGroup(group: number): void {
    this.#groups.add(group);
    this.#tell({ type: "group", group });
  }

  /** Nothing is left of it. */
  forgetGroup(group: number): void {
    this.#groups.delete(group);
    this.#tell({ type: "forget", group });
  }

  /** Nothing is left of the child. */
  idle(): void {
    this.#deadline = undefined;
    this.#groups.clear();
    this.#tell({ type: "idle" });
  }

  /** Only when nothing is left and nothing will be started. */
  async close(): Promise<void> {
    const child = this.#process;
    this.#isClosed = true;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
    this.#tell({ type: "done" });
    child.stdin?.end();
    const { clock } = this.#parts;
    const cancel = clock.at(clock.now().monoMs + goneWithinMs, () => child.kill("SIGKILL"));
    await ended;
    cancel();
  }

  #spawn(): void {
    const [command = "", ...args] = this.#parts.argv ?? [process.execPath, ...frugalFlags, programFile()];
    try {
      const child = spawn(command, [...args, this.#parts.marker, String(ownPid)], {
        // A session of its own: neither Ctrl-C nor a signal to our group reaches it.
        detached: true,
        stdio: ["pipe", "pipe", "ignore"],
        env: leanEnvironment(),
        cwd: "/",
      });
      this.#process = child;
      this.#listen(child);
    } catch (error) {
      this.#ended(undefined, inWords(error));
    }
  }

  #listen(child: ChildProcess): void {
    child.once("error", (error) => this.#ended(child, error.message));
    child.once("exit", (code, signal) => this.#ended(child, `it ended with ${signal ?? code}`));
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    const read = messageReader<FromWatchdog>((message) => this.#heard(child, message));
    child.stdout?.setEncoding("utf8").on("data", read);
    // Written before it listens, read as soon as it does.
    if (this.#folder !== undefined) this.#tell({ type: "folder", path: this.#folder });
    if (this.#deadline) this.#tell({ type: "deadline", at: this.#deadline });
    for (const group of this.#groups) this.#tell({ type: "group", group });
  }

  #heard(child: ChildProcess, message: FromWatchdog): void {
    if (child !== this.#process) return;
    if (message.type === "killed") {
      this.#parts.onKilled(message.pids, message.atMs);
      return;
    }
    this.#isReady = true;
    for (const resolve of this.#waiting) resolve();
  }

  #ended(child: ChildProcess | undefined, why: string): void {
    if (child !== this.#process || this.#isClosed) return;
    const wasReady = this.#isReady;
    this.#process = undefined;
    this.#isReady = false;
    this.#parts.onError(
      new SupervisorError("Unguarded", `The watchdog is gone (${why}); another one is being started.`),
    );
    if (wasReady) {
      void this.ready(replacedWithinMs).then((isReady) => {
        if (!isReady && !this.#isClosed) this.#parts.onUnguarded();
      });
    }
    if (wasReady) this.#spawn();
    else void sleep(this.#parts.clock, this.#againMs).then(() => this.start());
    this.#againMs = wasReady ? firstAgainMs : Math.min(this.#againMs * 2, longestAgainMs);
  }

  #tell(message: ToWatchdog): void {
    if (this.#process?.stdin?.writable) this.#process.stdin.write(toLine(message));
  }
}

/** The built program: beside this file, or, for tests on the sources, in dist. */
function programFile(): string {
  const here = fileURLToPath(new URL("./main.js", import.meta.url));
  return existsSync(here) ? here : fileURLToPath(new URL("../../dist/watchdog/main.js", import.meta.url));
}

/** NODE_OPTIONS is for programs that work (inspectors, agents). */
function leanEnvironment(): Record<string, string | undefined> {
  const { LD_LIBRARY_PATH, TZ } = inheritedEnvironment();
  return { LD_LIBRARY_PATH, TZ };
}
