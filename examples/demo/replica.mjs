// @ts-check
/** One replica: `tenure run` with a worker as its child, on its own network links. It restarts after it is killed, as a pod does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { processTree, running, signalAll } from "./processes.mjs";

const tenure = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));
const worker = fileURLToPath(new URL("../stream-worker/worker.mjs", import.meta.url));

/** How long a killed replica stays down. */
const restartAfterMs = 2_000;
/** A replica that has not exited by then is killed. */
const exitTimeoutMs = 15_000;

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Replica {
  /** "follower", "pre-leader", … as tenure reports it. */
  phase = "starting";
  /** @type {"up" | "frozen" | "cut off" | "down"} */
  state = "up";
  /** Every process of this replica that was ever seen. @type {Set<number>} */
  pids = new Set();
  #isClosing = false;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  /** @type {NodeJS.Timeout | undefined} */
  #restartTimer;

  /**
   * @param {string} name
   * @param {object} parts
   * @param {import("./network-link.mjs").NetworkLink[]} parts.links
   * @param {string} parts.statusUrl where it reports its state
   * @param {string[]} parts.runFlags
   * @param {string[]} parts.workerFlags
   * @param {string} parts.folder for its temporary files: a killed process does not clean up
   * @param {(line: string) => void} parts.log
   */
  constructor(name, { links, statusUrl, runFlags, workerFlags, folder, log }) {
    this.name = name;
    this.links = links;
    this.statusUrl = statusUrl;
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
    // In its own process group: Ctrl-C must reach only the demo, which then stops its replicas in order.
    const child = spawn(process.execPath, this.arguments, {
      env,
      detached: true,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#process = child;
    if (child.pid) this.pids.add(child.pid);
    createInterface({ input: child.stderr }).on("line", (line) => this.#onLogLine(line));
    child.on("exit", (code, signal) => this.#onExit(child, signal ?? `exit code ${code}`));
    child.on("error", (error) => this.log(`${this.name}: ${error.message}`));
  }

  /** SIGKILL, as when memory runs out. */
  kill() {
    this.findProcesses();
    this.#process?.kill("SIGKILL");
  }

  /** SIGTERM, as when a new version is rolled out. */
  restart() {
    this.findProcesses();
    this.#process?.kill("SIGTERM");
  }

  /** SIGSTOP to every process of the replica. */
  freeze() {
    this.state = "frozen";
    signalAll(this.findProcesses(), "SIGSTOP");
  }

  unfreeze() {
    if (this.state !== "frozen") return;
    this.state = "up";
    signalAll(this.findProcesses(), "SIGCONT");
  }

  cutNetwork() {
    this.state = "cut off";
    for (const link of this.links) link.cut();
  }

  restoreNetwork() {
    if (this.state !== "cut off") return;
    this.state = "up";
    for (const link of this.links) link.restore();
  }

  /** Finds the processes that the replica has now, and remembers them. */
  findProcesses() {
    const found = this.pid ? processTree(this.pid) : [];
    for (const pid of found) this.pids.add(pid);
    return found;
  }

  /** Stops the replica gracefully, then kills what still runs. */
  async close() {
    this.#isClosing = true;
    clearTimeout(this.#restartTimer);
    this.findProcesses();
    this.unfreeze();
    this.restoreNetwork();
    const child = this.#process;
    if (child) {
      const killer = setTimeout(() => signalAll(this.findProcesses(), "SIGKILL"), exitTimeoutMs);
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      clearTimeout(killer);
    }
    for (const link of this.links) link.close();
    // A watchdog needs a moment to notice that its supervisor has exited.
    for (let tries = 0; tries < 100 && running(this.pids).length > 0; tries++) await wait(50);
    signalAll(running(this.pids), "SIGKILL");
  }

  /** @param {string} line */
  #onLogLine(line) {
    if (!line.startsWith("{")) {
      this.log(`${this.name}: ${line}`);
      return;
    }
    try {
      const { event, phase, msg, level } = JSON.parse(line);
      if (event === "phase") {
        this.phase = phase;
        this.findProcesses();
      }
      if (level === "warn" || level === "error")
        this.log(`${this.name}: ${msg.replace(`${this.name}: `, "")}`);
    } catch {
      this.log(`${this.name}: ${line}`);
    }
  }

  /** @param {import("node:child_process").ChildProcess} child @param {string} how */
  #onExit(child, how) {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.phase = "";
    this.state = "down";
    if (this.#isClosing) return;
    this.log(`${this.name} exited (${how}) and will restart`);
    this.#restartTimer = setTimeout(() => this.start(), restartAfterMs);
  }
}
