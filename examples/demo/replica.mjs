// @ts-check
/** One replica: a `tenure run` with a worker as its child, on wires of its own. Comes back when it is killed, as a pod does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { family, running, signalAll } from "./processes.mjs";

const tenure = fileURLToPath(new URL("../../packages/cli/bin/tenure.mjs", import.meta.url));
const worker = fileURLToPath(new URL("../stream-worker/worker.mjs", import.meta.url));

/** How long a killed replica stays away. */
const awayMs = 2_000;
/** A replica that has not ended by then is made to. */
const endWithinMs = 15_000;

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Replica {
  /** "follower", "pre-leader", … as tenure tells it. */
  phase = "starting";
  /** @type {"up" | "frozen" | "cut off" | "down"} */
  state = "up";
  /** Every process that was ever seen of it. @type {Set<number>} */
  pids = new Set();
  #isClosing = false;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  /** @type {NodeJS.Timeout | undefined} */
  #comeBack;

  /**
   * @param {string} name
   * @param {object} parts
   * @param {import("./wire.mjs").Wire[]} parts.wires
   * @param {string[]} parts.runFlags
   * @param {string[]} parts.workerFlags
   * @param {string} parts.folder for its temporary files: what is killed does not clean up
   * @param {(line: string) => void} parts.log
   */
  constructor(name, { wires, runFlags, workerFlags, folder, log }) {
    this.name = name;
    this.wires = wires;
    this.log = log;
    this.folder = folder;
    this.arguments = [
      ...[tenure, "run", "--id", name, "--ready", "ipc", "--log-format", "json", ...runFlags],
      ...["--", process.execPath, worker, ...workerFlags],
    ];
  }

  get pid() {
    return this.#process?.pid;
  }

  start() {
    if (this.#isClosing || this.#process) return;
    this.phase = "starting";
    this.state = "up";
    const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith("TENURE_"));
    const env = { ...Object.fromEntries(inherited), TMPDIR: this.folder };
    // In a group of its own: Ctrl-C is for the demo, which ends its replicas in order.
    const child = spawn(process.execPath, this.arguments, {
      env,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    if (child.pid) this.pids.add(child.pid);
    createInterface({ input: child.stderr }).on("line", (line) => this.#heard(line));
    child.on("exit", (code, signal) => this.#ended(child, signal ?? `exit code ${code}`));
    child.on("error", (error) => this.log(`${this.name}: ${error.message}`));
  }

  /** SIGKILL, as when memory runs out. */
  kill() {
    this.look();
    this.#process?.kill("SIGKILL");
  }

  /** SIGTERM, as when a new version is rolled out. */
  restart() {
    this.look();
    this.#process?.kill("SIGTERM");
  }

  /** Everything of it stands still. */
  freeze() {
    this.state = "frozen";
    signalAll(this.look(), "SIGSTOP");
  }

  thaw() {
    if (this.state !== "frozen") return;
    this.state = "up";
    signalAll(this.look(), "SIGCONT");
  }

  cut() {
    this.state = "cut off";
    for (const wire of this.wires) wire.cut();
  }

  mend() {
    if (this.state !== "cut off") return;
    this.state = "up";
    for (const wire of this.wires) wire.mend();
  }

  /** Looks which processes it has now. */
  look() {
    const found = this.pid ? family(this.pid) : [];
    for (const pid of found) this.pids.add(pid);
    return found;
  }

  /** Ends it in order, and then in any case. */
  async close() {
    this.#isClosing = true;
    clearTimeout(this.#comeBack);
    this.look();
    this.thaw();
    this.mend();
    const child = this.#process;
    if (child) {
      const killer = setTimeout(() => signalAll(this.look(), "SIGKILL"), endWithinMs);
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      clearTimeout(killer);
    }
    for (const wire of this.wires) wire.close();
    // A watchdog needs a moment to see that there is nothing left to watch.
    for (let tries = 0; tries < 100 && running(this.pids).length > 0; tries++) await wait(50);
    signalAll(running(this.pids), "SIGKILL");
  }

  /** @param {string} line */
  #heard(line) {
    if (!line.startsWith("{")) {
      this.log(`${this.name}: ${line}`);
      return;
    }
    try {
      const { event, phase, msg, level } = JSON.parse(line);
      if (event === "phase") {
        this.phase = phase;
        this.look();
      }
      if (level === "warn" || level === "error")
        this.log(`${this.name}: ${msg.replace(`${this.name}: `, "")}`);
    } catch {
      this.log(`${this.name}: ${line}`);
    }
  }

  /** @param {import("node:child_process").ChildProcess} child @param {string} how */
  #ended(child, how) {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.phase = "";
    this.state = "down";
    if (this.#isClosing) return;
    this.log(`${this.name} ended (${how}) and comes back`);
    this.#comeBack = setTimeout(() => this.start(), awayMs);
  }
}
