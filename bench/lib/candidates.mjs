// @ts-check
/** Starts candidate processes with the same flags, reads their JSON lines, and ends them together with this process. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startCleanupProcess } from "../../test/kube/cleanup-process.mjs";
import { buildGoCandidate } from "../client-go/build.mjs";
import { monoMs } from "./clock.mjs";

/**
 * @typedef {"ours" | "client-go"} Kind
 * @typedef {Kind | "ours in a pod" | "knative" | "bare"} Program
 *
 * @typedef {object} Line
 * @property {"started-leading" | "worked" | "work-stopped" | "stopped-leading" | "new-leader" | "owned" | "dropped"} event
 * @property {number} monoMs
 * @property {string} id
 * @property {string} election
 * @property {string} [leader]
 * @property {string} [token]
 * @property {boolean} [released]
 * @property {string} [reason]
 * @property {number} [shard]
 */

export const kinds = /** @type {const} */ (["ours", "client-go"]);
const maxStderrLength = 4_096;
/** A candidate that does not stop within this time is killed. */
const graceMs = 20_000;

/** What Node chooses by itself in a container with a memory limit of 512 MiB or less. Without a limit it lets garbage grow to more. */
const nodeInPod = [process.execPath, "--max-old-space-size=256", "--max-semi-space-size=1"];

/** The programs that take part in elections. */
export async function electionPrograms() {
  const { path, version } = await buildGoCandidate();
  const candidate = fileURLToPath(new URL("../candidate.mjs", import.meta.url));
  const bare = fileURLToPath(new URL("../bare-renewals.mjs", import.meta.url));
  const commands = {
    ours: [process.execPath, candidate],
    "ours in a pod": [...nodeInPod, candidate],
    "client-go": [path],
    bare: [...nodeInPod, bare],
  };
  return { clientGoVersion: version, commands };
}

export class CandidateProcesses {
  #kubeconfig;
  #commands;
  #cleanup;
  /** @type {Set<CandidateProcess>} */
  #running = new Set();
  #count = 0;

  /**
   * @param {string} kubeconfig
   * @param {Partial<Record<Program, readonly string[]>>} commands
   * @param {import("../../test/kube/cleanup-process.mjs").CleanupProcess} cleanup
   */
  constructor(kubeconfig, commands, cleanup) {
    this.#kubeconfig = kubeconfig;
    this.#commands = commands;
    this.#cleanup = cleanup;
  }

  /** @param {string} kubeconfig @param {Partial<Record<Program, readonly string[]>>} commands the program of each kind */
  static async create(kubeconfig, commands) {
    // The cleanup process kills the candidates when this process ends for any reason. It requires a folder to remove.
    const cleanup = await startCleanupProcess(await mkdtemp(join(tmpdir(), "tenure-bench-")));
    return new CandidateProcesses(kubeconfig, commands, cleanup);
  }

  /**
   * @param {Program} kind
   * @param {Record<string, string | number>} flags without kubeconfig; a missing id is generated
   */
  start(kind, flags) {
    this.#count += 1;
    const id = String(flags.id ?? `${kind}-${this.#count}`);
    const args = Object.entries({ kubeconfig: this.#kubeconfig, id, ...flags }).map(
      ([name, value]) => `--${name}=${value}`,
    );
    const [command = "", ...before] = this.#commands[kind] ?? [];
    const candidate = new CandidateProcess(kind, id, command, [...before, ...args]);
    this.#running.add(candidate);
    if (candidate.pid !== undefined) this.#cleanup.watch(candidate.pid);
    void candidate.exited.then(() => {
      this.#running.delete(candidate);
      if (candidate.pid !== undefined) this.#cleanup.forget(candidate.pid);
    });
    return candidate;
  }

  /** Kills all running candidates. */
  async killAll() {
    await Promise.all([...this.#running].map((candidate) => candidate.kill()));
  }

  async close() {
    await this.killAll();
    await this.#cleanup.end();
  }
}

export class CandidateProcess {
  /** @type {Line[]} */
  lines = [];
  /** @type {Set<(line: Line) => void>} */
  #listeners = new Set();
  #child;
  #stderr = "";
  #hasExited = false;

  /** @param {Program} kind @param {string} id @param {string} command @param {string[]} args */
  constructor(kind, id, command, args) {
    this.kind = kind;
    this.id = id;
    this.startedMs = monoMs();
    // The developer's environment must not change the measurement.
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    this.#child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    createInterface({ input: this.#child.stdout }).on("line", (text) => {
      const line = /** @type {Line} */ (JSON.parse(text));
      this.lines.push(line);
      for (const listener of [...this.#listeners]) listener(line);
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-maxStderrLength);
    });
    /** @type {Promise<string>} a description of how it ended; never rejects */
    this.exited = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#ended(`cannot start: ${error.message}`, resolve));
      // "close" rather than "exit": by then all its lines have been read.
      this.#child.once("close", (code, signal) =>
        this.#ended(signal ? `signal ${signal}` : `exit code ${code}`, resolve),
      );
    });
  }

  get pid() {
    return this.#child.pid;
  }

  get hasExited() {
    return this.#hasExited;
  }

  /** The last part of its stderr. */
  get stderr() {
    return this.#stderr;
  }

  /** @param {(line: Line) => void} listener @returns {() => void} a function that removes the listener */
  onLine(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves with the first line that matches, including lines that have already arrived.
   *
   * @param {(line: Line) => boolean} matches
   * @param {number} timeoutMs
   * @param {string} what completes "it did not …" in the error
   * @returns {Promise<Line>}
   */
  waitForLine(matches, timeoutMs, what) {
    const found = this.lines.find(matches);
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        off();
      };
      const fail = (/** @type {string} */ why) => {
        done();
        reject(new Error(`${this.id} did not ${what}: ${why}; its stderr: ${this.#stderr || "nothing"}`));
      };
      const timer = setTimeout(() => fail(`timed out after ${timeoutMs} ms`), timeoutMs);
      const off = this.onLine((line) => {
        if (!matches(line)) return;
        done();
        resolve(line);
      });
      void this.exited.then((how) => fail(`it ended with ${how}`));
    });
  }

  /** @param {number} [timeoutMs] */
  leads(timeoutMs = 60_000) {
    return this.waitForLine((line) => line.event === "started-leading", timeoutMs, "lead");
  }

  /** Waits until it knows the leader. @param {number} [timeoutMs] */
  knowsLeader(timeoutMs = 60_000) {
    return this.waitForLine(
      (line) => line.event === "new-leader" && line.leader !== "",
      timeoutMs,
      "see a leader",
    );
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child.kill(signal);
  }

  /** Sends SIGTERM and waits until it has exited. */
  async stop() {
    this.signal("SIGTERM");
    const force = setTimeout(() => this.signal("SIGKILL"), graceMs);
    await this.exited;
    clearTimeout(force);
  }

  async kill() {
    this.signal("SIGKILL");
    await this.exited;
  }

  /** Resident memory in MB (10^6 bytes), from the kernel. */
  async memoryMb() {
    const status = await this.#proc("status");
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6;
  }

  /** CPU time used so far, in milliseconds. The kernel's resolution is 10 ms. */
  async cpuMs() {
    const stat = await this.#proc("stat");
    // "pid (name) state …"; the name may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** @param {string} file */
  async #proc(file) {
    if (this.#hasExited)
      throw new Error(`${this.id} ended with ${await this.exited}; its stderr: ${this.#stderr || "nothing"}`);
    return readFile(`/proc/${this.pid}/${file}`, "utf8");
  }

  /** @param {string} how @param {(how: string) => void} resolve */
  #ended(how, resolve) {
    this.#hasExited = true;
    resolve(how);
  }
}
