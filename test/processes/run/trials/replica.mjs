// @ts-check
/** One `tenure run` for a trial, and its log. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isAlive, marked, markVariable, watchdogsOf } from "../survivors.mjs";

const command = fileURLToPath(new URL("../../../../packages/cli/bin/tenure.cjs", import.meta.url));

/** @type {Set<TrialReplica>} */
export const replicas = new Set();

export class TrialReplica {
  /** @type {Record<string, unknown>[]} */
  lines = [];
  #mark = randomUUID();
  /** @type {Set<() => void>} */
  #waiting = new Set();
  #stderr = "";

  /**
   * @param {object} setup
   * @param {string} setup.kubeconfig
   * @param {string} setup.name
   * @param {string} setup.id
   * @param {string} setup.pipe
   * @param {string[]} setup.child
   * @param {string[]} setup.flags
   * @param {string[]} [setup.before] the words before the command
   */
  constructor({ kubeconfig, name, id, pipe, child, flags, before = [] }) {
    const election = ["--kubeconfig", kubeconfig, "--lease-lock-name", name, "--id", id];
    const words = [...before, process.execPath, command, "run", ...election, ...flags, "--", ...child];
    this.process = spawn(/** @type {string} */ (words[0]), words.slice(1), {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: process.env.PATH, HOME: "/nonexistent", TRIAL_PIPE: pipe, [markVariable]: this.#mark },
    });
    this.exited = once(this.process, "exit");
    replicas.add(this);
    createInterface({ input: /** @type {import("node:stream").Readable} */ (this.process.stderr) }).on(
      "line",
      (line) => {
        if (line.startsWith("{")) this.lines.push(JSON.parse(line));
        else this.#stderr += `${line}\n`;
        for (const look of this.#waiting) look();
      },
    );
    void this.exited.then(() => {
      for (const look of this.#waiting) look();
    });
  }

  get pid() {
    return /** @type {number} */ (this.process.pid);
  }

  /** @param {string} event @param {Record<string, unknown>} [facts] */
  async logged(event, facts = {}) {
    const find = () =>
      this.lines.find(
        (line) => line.event === event && Object.entries(facts).every(([key, value]) => line[key] === value),
      );
    const found = find();
    if (found) return found;
    return new Promise((resolve, reject) => {
      const settle = (/** @type {() => void} */ act) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        act();
      };
      const fail = () =>
        settle(() => {
          const last = JSON.stringify(this.lines.slice(-5));
          reject(new Error(`no event ${event} ${JSON.stringify(facts)} in the log: ${last} ${this.#stderr}`));
        });
      const look = () => {
        const line = find();
        if (line) settle(() => resolve(line));
        else if (this.process.exitCode !== null || this.process.signalCode !== null) fail();
      };
      const timer = setTimeout(fail, 20_000);
      this.#waiting.add(look);
    });
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal) {
    this.process.kill(signal);
  }

  /** The pids of its descendants, found by their environment. */
  descendants() {
    return marked(this.#mark).filter((pid) => pid !== this.pid);
  }

  /** The pids of its descendants and of its watchdog. */
  survivors() {
    return [...new Set([...this.descendants(), ...watchdogsOf(this.pid)])].filter(isAlive);
  }

  /** Kills it and all its descendants, whatever state it is in. */
  async end() {
    this.kill("SIGKILL");
    this.kill("SIGCONT");
    await this.exited;
    // Its watchdog keeps killing for a second before it exits.
    for (let tries = 0; tries < 10; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 600));
      if (this.survivors().length === 0) break;
    }
    for (const pid of this.survivors()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It exited by itself.
      }
    }
    replicas.delete(this);
  }
}
