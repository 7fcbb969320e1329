// @ts-check
/** Starts, stops, freezes and restarts the processes of one replica, and remembers every process it started. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { isAlive, marked, markVariable, watchdogsOf } from "../../processes/run/survivors.mjs";
import { nowMs } from "../history/history.mjs";
import { UsageLog } from "../leaks.mjs";
import { usageOf } from "./usage.mjs";

const sampleMs = 1_000;
const rememberedPids = 3;
const wait = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Replica {
  /** @type {UsageLog[]} one for each candidate process */
  usages = [];
  #mark = randomUUID();
  /** @type {number[]} the last candidate processes; older pids may belong to other processes by now */
  #lastPids = [];
  #incarnation = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #process;
  /** @type {number | undefined} */
  #workerPid;
  #isClosing = false;

  /**
   * @param {object} options
   * @param {string} options.name
   * @param {import("./kinds.mjs").Kind} options.kind
   * @param {import("./kinds.mjs").Setup} options.setup
   * @param {import("../proxy.mjs").TcpProxy} options.proxy its network
   * @param {import("../history/history.mjs").HistoryFile} options.history
   * @param {NodeJS.ProcessEnv} options.env
   * @param {(text: string) => void} options.log
   * @param {import("../faketime.mjs").FakeClock | undefined} options.clock its wall clock, if that can be set
   */
  constructor({ name, kind, setup, proxy, history, env, log, clock }) {
    this.id = name;
    this.name = name;
    this.kind = kind;
    this.proxy = proxy;
    this.setup = setup;
    this.history = history;
    this.env = { ...env, [markVariable]: this.#mark };
    this.log = log;
    this.clock = clock;
  }

  get isAlive() {
    return this.#process !== undefined;
  }

  get hasWorker() {
    return this.#workerPid !== undefined && isAlive(this.#workerPid);
  }

  start(sameIdentity = false) {
    if (this.#isClosing) return;
    if (!sameIdentity) this.id = `${this.name}-${this.#incarnation++}`;
    const { id } = this;
    const child = this.kind.start(
      this.setup,
      id,
      { ...this.env, ...this.clock?.env },
      {
        started: (pid) => {
          this.#workerPid = pid;
        },
        ended: (token) => this.history.append({ kind: "ended", id, token, atMs: nowMs() }),
        log: (text) => this.log(`${id}: ${text}`),
      },
    );
    const pid = /** @type {number} */ (child.pid);
    this.#process = child;
    this.#lastPids = [pid, ...this.#lastPids].slice(0, rememberedPids);
    this.#sample(child);
    child.on("exit", (code, signal) => {
      this.clock?.removeSharedMemory(pid);
      if (this.#process !== child) return;
      this.#process = undefined;
      // A candidate ends its process if its work overruns or if it is denied access. It is restarted, like a pod.
      this.log(`${id} exited (${signal ?? code})`);
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

  /** Kills only the work. The candidate goes on. */
  killWork() {
    if (this.#workerPid !== undefined && isAlive(this.#workerPid)) process.kill(this.#workerPid, "SIGKILL");
  }

  /** Freezes the candidate. Its work and its watchdog go on. @param {number} forMs */
  async freeze(forMs) {
    const child = this.#process;
    child?.kill("SIGSTOP");
    await wait(forMs);
    child?.kill("SIGCONT");
  }

  /** Freezes every process of the replica, as when the whole machine is suspended. @param {number} forMs */
  async freezeAll(forMs) {
    const pids = this.survivors();
    for (const pid of pids) signal(pid, "SIGSTOP");
    await wait(forMs);
    for (const pid of pids) signal(pid, "SIGCONT");
  }

  /** @param {number} blockMs @returns {boolean} whether this kind of replica can be told to block */
  block(blockMs) {
    if (!this.#process?.connected) return false;
    this.#process.send({ blockMs }, () => {});
    return true;
  }

  /** Stops the replica for good. */
  async close() {
    this.#isClosing = true;
    this.#process?.kill("SIGCONT");
    await this.#end("SIGTERM");
  }

  /** Kills the candidate without waiting. The rest of the replica ends by itself. */
  kill() {
    this.#process?.kill("SIGKILL");
  }

  /** All processes of this replica that run: candidate, work, watchdogs, and what they started. */
  survivors() {
    return [...new Set([...marked(this.#mark), ...this.#lastPids.flatMap(watchdogsOf)])];
  }

  /** Waits until nothing of the closed replica runs. @param {number} forMs @returns {Promise<number[]>} what still runs */
  async remains(forMs) {
    for (const endMs = performance.now() + forMs; ; await wait(250)) {
      const pids = this.survivors();
      if (pids.length === 0 || performance.now() > endMs) return pids;
    }
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

/** @param {number} pid @param {NodeJS.Signals} name */
function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited.
  }
}
