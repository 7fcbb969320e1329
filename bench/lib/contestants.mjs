// @ts-check
/** The processes that take part: started with the same flags, heard by their JSON lines, ended with this process. */
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
 *
 * @typedef {object} Line
 * @property {"started-leading" | "worked" | "work-stopped" | "stopped-leading" | "new-leader"} event
 * @property {number} monoMs
 * @property {string} id
 * @property {string} election
 * @property {string} [leader]
 * @property {string} [token]
 * @property {boolean} [released]
 * @property {string} [reason]
 */

export const kinds = /** @type {const} */ (["ours", "client-go"]);
const ourProgram = fileURLToPath(new URL("../candidate.mjs", import.meta.url));
const keptErrorBytes = 4_096;
/** Candidates that were told to stop and do not are killed. */
const graceMs = 20_000;

export class Contestants {
  #kubeconfig;
  #goCandidate;
  #guardian;
  /** @type {Set<Contestant>} */
  #running = new Set();
  #count = 0;

  /**
   * @param {string} kubeconfig
   * @param {{ path: string, version: string }} goCandidate
   * @param {import("../../test/kube/cleanup-process.mjs").CleanupProcess} guardian
   */
  constructor(kubeconfig, goCandidate, guardian) {
    this.#kubeconfig = kubeconfig;
    this.#goCandidate = goCandidate;
    this.#guardian = guardian;
  }

  /** @param {string} kubeconfig */
  static async create(kubeconfig) {
    const goCandidate = await buildGoCandidate();
    // It ends what runs when this process is gone, however it went; the folder is only what it wants to remove.
    const guardian = await startCleanupProcess(await mkdtemp(join(tmpdir(), "tenure-bench-")));
    return new Contestants(kubeconfig, goCandidate, guardian);
  }

  get clientGoVersion() {
    return this.#goCandidate.version;
  }

  /**
   * @param {Kind} kind
   * @param {Record<string, string | number>} flags without kubeconfig; the id is made up where it is missing
   */
  start(kind, flags) {
    this.#count += 1;
    const id = String(flags.id ?? `${kind}-${this.#count}`);
    const args = Object.entries({ kubeconfig: this.#kubeconfig, id, ...flags }).map(
      ([name, value]) => `--${name}=${value}`,
    );
    const [command, ...before] = kind === "ours" ? [process.execPath, ourProgram] : [this.#goCandidate.path];
    const contestant = new Contestant(kind, id, /** @type {string} */ (command), [...before, ...args]);
    this.#running.add(contestant);
    if (contestant.pid !== undefined) this.#guardian.watch(contestant.pid);
    void contestant.exited.then(() => {
      this.#running.delete(contestant);
      if (contestant.pid !== undefined) this.#guardian.forget(contestant.pid);
    });
    return contestant;
  }

  /** Ends all that still run, at once: nothing of theirs is worth a graceful end. */
  async killAll() {
    await Promise.all([...this.#running].map((contestant) => contestant.kill()));
  }

  async close() {
    await this.killAll();
    await this.#guardian.end();
  }
}

export class Contestant {
  /** @type {Line[]} */
  lines = [];
  /** @type {Set<(line: Line) => void>} */
  #listeners = new Set();
  #child;
  #stderr = "";
  #hasExited = false;

  /** @param {Kind} kind @param {string} id @param {string} command @param {string[]} args */
  constructor(kind, id, command, args) {
    this.kind = kind;
    this.id = id;
    this.startedMs = monoMs();
    // Nothing of the developer's settings may change what is measured.
    const env = { PATH: process.env.PATH, HOME: process.env.HOME };
    this.#child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    createInterface({ input: this.#child.stdout }).on("line", (text) => {
      const line = /** @type {Line} */ (JSON.parse(text));
      this.lines.push(line);
      for (const listener of [...this.#listeners]) listener(line);
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#stderr = (this.#stderr + text).slice(-keptErrorBytes);
    });
    /** @type {Promise<string>} how it ended, in words; never rejects */
    this.exited = new Promise((resolve) => {
      this.#child.once("error", (error) => this.#ended(`cannot start: ${error.message}`, resolve));
      // "close" rather than "exit": by then all its lines have been heard.
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

  /** The end of what it complained about. */
  get stderr() {
    return this.#stderr;
  }

  /** @param {(line: Line) => void} listener @returns {() => void} what ends it */
  onLine(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * The first line that fits, also if it came already.
   *
   * @param {(line: Line) => boolean} fits
   * @param {number} timeoutMs
   * @param {string} what
   * @returns {Promise<Line>}
   */
  heard(fits, timeoutMs, what) {
    const found = this.lines.find(fits);
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
      const timer = setTimeout(() => fail(`not in ${timeoutMs} ms`), timeoutMs);
      const off = this.onLine((line) => {
        if (!fits(line)) return;
        done();
        resolve(line);
      });
      void this.exited.then((how) => fail(`it ended with ${how}`));
    });
  }

  /** @param {number} [timeoutMs] */
  leads(timeoutMs = 60_000) {
    return this.heard((line) => line.event === "started-leading", timeoutMs, "lead");
  }

  /** Until it knows the leader. @param {number} [timeoutMs] */
  settled(timeoutMs = 60_000) {
    return this.heard((line) => line.event === "new-leader" && line.leader !== "", timeoutMs, "see a leader");
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child.kill(signal);
  }

  /** Asks it to stop, and waits. */
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

  /** Resident memory in MB (10^6 bytes), as the kernel counts it. */
  async memoryMb() {
    const status = await this.#proc("status");
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6;
  }

  /** CPU time used so far, in milliseconds. The kernel counts in hundredths of a second. */
  async cpuMs() {
    const stat = await this.#proc("stat");
    // "pid (name) state …", where the name may hold spaces and brackets.
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
