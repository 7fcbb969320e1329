// @ts-check
/** Starts, stops, freezes and restarts the processes of one replica, and remembers every process it started. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UsageLog } from "./leaks.mjs";

const sampleMs = 1_000;
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Replica {
  /** @type {number[]} */
  pids = [];
  /** @type {UsageLog[]} one for each candidate process */
  usages = [];
  #incarnation = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  /** @type {number | undefined} */
  #workerPid;
  #isClosing = false;

  /**
   * @param {string} name
   * @param {import("./proxy.mjs").TcpProxy} proxy
   * @param {object} setup the configuration of the candidate
   * @param {(text: string) => void} log
   * @param {import("./faketime.mjs").FakeClock} [clock] its wall clock, if that can be set
   */
  constructor(name, proxy, setup, log, clock) {
    this.id = name;
    this.name = name;
    this.proxy = proxy;
    this.setup = setup;
    this.log = log;
    this.clock = clock;
  }

  get pid() {
    return this.#process?.pid;
  }

  get isAlive() {
    return this.#process !== undefined;
  }

  get hasWorker() {
    return this.#workerPid !== undefined && isRunning(this.#workerPid);
  }

  start(sameIdentity = false) {
    if (this.#isClosing) return;
    if (!sameIdentity) this.id = `${this.name}-${this.#incarnation++}`;
    const argument = JSON.stringify({ ...this.setup, id: this.id });
    const child = fork(fileURLToPath(new URL("./candidate.mjs", import.meta.url)), [argument], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, ...this.clock?.env },
    });
    this.#process = child;
    this.#sample(child);
    child.once("exit", () => this.clock?.removeSharedMemory(/** @type {number} */ (child.pid)));
    this.pids.push(/** @type {number} */ (child.pid));
    child.on("message", (/** @type {{ started: number }} */ { started }) => {
      this.#workerPid = started;
      this.pids.push(started);
    });
    child.stderr?.on("data", (text) => this.log(`${this.id}: ${String(text).trim()}`));
    child.on("exit", (code, signal) => {
      if (this.#process !== child) return;
      this.#process = undefined;
      // A candidate ends its process if its work overruns or if it is denied access. It is restarted, like a pod.
      this.log(`${this.id} exited (${signal ?? code})`);
      setTimeout(() => !this.#process && this.start(), 500);
    });
  }

  /** @param {number} downMs @param {boolean} sameIdentity */
  async crash(downMs, sameIdentity) {
    await this.#end("SIGKILL");
    await wait(downMs);
    if (!this.#process) this.start(sameIdentity);
  }

  /** @param {number} downMs */
  async stop(downMs) {
    await this.#end("SIGTERM");
    await wait(downMs);
    if (!this.#process) this.start();
  }

  /** @param {number} forMs */
  async freeze(forMs) {
    const child = this.#process;
    child?.kill("SIGSTOP");
    await wait(forMs);
    child?.kill("SIGCONT");
  }

  /** @param {number} blockMs */
  block(blockMs) {
    this.#process?.send({ blockMs }, () => {});
  }

  /** Stops the replica for good. */
  async close() {
    this.#isClosing = true;
    this.#process?.kill("SIGCONT");
    await this.#end("SIGTERM");
  }

  /**
   * Samples what the process uses, until it exits.
   * @param {import("node:child_process").ChildProcess} child
   */
  #sample(child) {
    const log = new UsageLog(this.id);
    this.usages.push(log);
    const timer = setInterval(() => {
      const usage = usageOf(/** @type {number} */ (child.pid));
      if (usage) log.add(usage);
    }, sampleMs);
    child.once("exit", () => clearInterval(timer));
  }

  /** @param {NodeJS.Signals} signal */
  async #end(signal) {
    const child = this.#process;
    if (!child) return;
    this.#process = undefined;
    const exited = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
    child.kill(signal);
    const killer = setTimeout(() => child.kill("SIGKILL"), 30_000);
    await exited;
    clearTimeout(killer);
  }
}

/** File descriptors and resident memory, if /proc has them. @param {number} pid */
function usageOf(pid) {
  try {
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    // A process that exited but was not reaped yet has none.
    if (resident === undefined) return undefined;
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, megabytes: Number(resident) / 1_024 };
  } catch {
    // The process has exited, or this is not Linux.
    return undefined;
  }
}

/** @param {number} pid */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A zombie has exited, but its parent has not reaped it yet.
  return (
    !existsSync(`/proc/${pid}/status`) || !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  );
}
