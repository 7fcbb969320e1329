/**
 * The supervisor's side of the watchdog: starts the process and sends it messages. It keeps all that the watchdog must know, so
 * that a watchdog that dies is replaced at once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, Backoff, type Clock, first, type Instant, messageOf, sleep } from "@tenure/base";
import { SupervisorError } from "../errors.ts";
import { inheritedEnvironment, nodeProgram, ownPid } from "../platform.ts";
import { type FromWatchdog, messageReader, type ToWatchdog, toLine } from "./protocol.ts";

export interface WatchdogOptions {
  readonly marker: string;
  readonly clock: Clock;
  readonly onError: (error: Error) => void;
  /** The watchdog killed the child, because the supervisor did not do so in time. */
  readonly onKilled: (pids: readonly number[], atMs: number) => void;
  /** The watchdog died, and no other was ready in time. */
  readonly onUnguarded: () => void;
  /** The command that starts the watchdog. @default this Node, with as little memory as possible */
  readonly argv?: readonly string[];
}

/** A small heap, and one thread for garbage collection. The watchdog is idle most of the time. */
const frugalFlags = ["--max-old-space-size=16", "--max-semi-space-size=1", "--v8-pool-size=1"];
/** How long to wait for an answer of the watchdog. */
const answerWithinMs = 10_000;
/** How long a child may run without a watchdog. */
const replacedWithinMs = 5_000;
/** How long the watchdog may take to exit. It has nothing left to do then; a stopped one (SIGSTOP) is killed. */
const exitWithinMs = 2_000;
/** The pauses before a watchdog is started again that died before it was ready. */
const backoff = { firstMs: 250, mostMs: 30_000, jitter: 0 };

export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #backoff = new Backoff(backoff, () => 0);
  #process: ChildProcess | undefined;
  #isReady = false;
  #isClosed = false;
  #folder: string | undefined;
  #deadline: Instant | undefined;
  readonly #groups = new Set<number>();
  readonly #onReady = new Set<() => void>();

  constructor(options: WatchdogOptions) {
    this.#options = options;
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

  /** Resolves with true when a watchdog is listening, or with false if there is none in time. */
  async ready(withinMs = answerWithinMs): Promise<boolean> {
    return this.#isReady || this.#nextReady(withinMs);
  }

  /**
   * Resolves with true when the watchdog has handled all messages so far. A watchdog that was killing because of an older
   * deadline has stopped by then, and does not kill a new child. Resolves with false if it does not answer in time.
   */
  async acknowledged(withinMs = answerWithinMs): Promise<boolean> {
    this.#send({ type: "ask" });
    return this.#nextReady(withinMs);
  }

  async #nextReady(withinMs: number): Promise<boolean> {
    let onReady = () => {};
    const ready = new Promise<void>((resolve) => {
      onReady = resolve;
    });
    this.#onReady.add(onReady);
    const what = await first(this.#options.clock, { ready, late: withinMs });
    this.#onReady.delete(onReady);
    return what === "ready";
  }

  /** The watchdog removes this folder if the supervisor cannot. */
  setFolder(path: string): void {
    this.#folder = path;
    this.#send({ type: "folder", path });
  }

  /** The watchdog kills the child at this time, unless a newer message arrives. */
  setDeadline(at: Instant): void {
    this.#deadline = at;
    this.#send({ type: "deadline", at });
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

  /** Call this when the child and its descendants have exited. */
  idle(): void {
    this.#deadline = undefined;
    this.#groups.clear();
    this.#send({ type: "idle" });
  }

  /** Ends the watchdog. Call this only when no process is left and no other child will be started. */
  async close(): Promise<void> {
    const child = this.#process;
    this.#isClosed = true;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
    this.#send({ type: "done" });
    child.stdin?.end();
    const cancel = after(this.#options.clock, exitWithinMs, () => child.kill("SIGKILL"));
    await exited;
    cancel();
  }

  #spawn(): void {
    const [command = "", ...args] = this.#options.argv ?? [nodeProgram, ...frugalFlags, programFile()];
    try {
      const child = spawn(command, [...args, this.#options.marker, String(ownPid)], {
        // Its own session: neither Ctrl-C nor a signal to the supervisor's group reaches it.
        detached: true,
        stdio: ["pipe", "pipe", "ignore"],
        env: minimalEnvironment(),
        cwd: "/",
      });
      this.#process = child;
      this.#connect(child);
    } catch (error) {
      this.#onEnd(undefined, messageOf(error));
    }
  }

  #connect(child: ChildProcess): void {
    child.once("error", (error) => this.#onEnd(child, error.message));
    child.once("exit", (code, signal) =>
      this.#onEnd(child, signal ? `it was killed by ${signal}` : `it exited with code ${code}`),
    );
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    const read = messageReader<FromWatchdog>((message) => this.#onMessage(child, message));
    child.stdout?.setEncoding("utf8").on("data", read);
    // The pipe holds these messages until the watchdog reads them.
    if (this.#folder !== undefined) this.#send({ type: "folder", path: this.#folder });
    if (this.#deadline) this.#send({ type: "deadline", at: this.#deadline });
    for (const group of this.#groups) this.#send({ type: "group", group });
  }

  #onMessage(child: ChildProcess, message: FromWatchdog): void {
    if (child !== this.#process) return;
    if (message.type === "killed") {
      this.#options.onKilled(message.pids, message.atMs);
      return;
    }
    this.#isReady = true;
    for (const onReady of this.#onReady) onReady();
  }

  #onEnd(child: ChildProcess | undefined, why: string): void {
    if (child !== this.#process || this.#isClosed) return;
    const { clock, onError, onUnguarded } = this.#options;
    const wasReady = this.#isReady;
    this.#process = undefined;
    this.#isReady = false;
    onError(
      new SupervisorError("Unguarded", `The watchdog ended (${why}); the supervisor starts another one.`),
    );
    if (!wasReady) {
      void sleep(clock, this.#backoff.next()).then(() => this.start());
      return;
    }
    this.#backoff.reset();
    void this.ready(replacedWithinMs).then((isReady) => {
      if (!isReady && !this.#isClosed) onUnguarded();
    });
    this.#spawn();
  }

  #send(message: ToWatchdog): void {
    if (this.#process?.stdin?.writable) this.#process.stdin.write(toLine(message));
  }
}

/** The built program: beside this file or, for tests that run on the sources, in dist. */
function programFile(): string {
  const here = fileURLToPath(new URL("./main.js", import.meta.url));
  return existsSync(here) ? here : fileURLToPath(new URL("../../dist/watchdog/main.js", import.meta.url));
}

/** Without NODE_OPTIONS, which would load inspectors and agents into the watchdog. */
function minimalEnvironment(): Record<string, string | undefined> {
  const { LD_LIBRARY_PATH, TZ } = inheritedEnvironment();
  return { LD_LIBRARY_PATH, TZ };
}
