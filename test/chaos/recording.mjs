// @ts-check
/**
 * A recording of a chaos run, to look at with `tenure ui --open`: `tenure watch --record` follows the lock while the run lasts, and
 * the work that the witness saw is appended at the end.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { headerLine, observationLine } from "@tenure/ui";
import { nowMs } from "./history/history.mjs";
import { workersOf } from "./history/workers.mjs";

/** @typedef {import("@tenure/ui").Observation} Observation */

const command = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));

export class ChaosRecording {
  /** @type {Observation[]} */
  #notes = [];
  #path;
  #election;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #watch;

  /** @param {string} path @param {string} name of the election, in namespace default */
  constructor(path, name) {
    this.#path = path;
    this.#election = `default/${name}`;
  }

  /** Follows the lock, if it is in an API server. @param {string | undefined} kubeconfig path */
  start(kubeconfig) {
    if (kubeconfig === undefined) return;
    const [namespace = "", name = ""] = this.#election.split("/");
    this.#watch = spawn(
      process.execPath,
      [command, "watch", name, "-n", namespace, "--kubeconfig", kubeconfig, "--record", this.#path],
      { stdio: "ignore" },
    );
  }

  /** @param {string} text a fault that was injected */
  note(text) {
    this.#notes.push({ kind: "note", atMs: Date.now(), election: this.#election, text });
  }

  async stopWatching() {
    if (!this.#watch || this.#watch.exitCode !== null) return;
    const exited = once(this.#watch, "exit");
    this.#watch.kill("SIGTERM");
    await exited;
  }

  /** @param {import("./history/history.mjs").History} history */
  async finish(history) {
    await this.stopWatching();
    const text = await readFile(this.#path, "utf8").catch(() => "");
    if (text === "") await writeFile(this.#path, headerLine(Date.now(), "npm run chaos"));
    // A kill may have cut the last line short.
    else if (!text.endsWith("\n")) await appendFile(this.#path, "\n");
    const lines = [...this.#notes, ...workLines(history, this.#election, Date.now() - nowMs())];
    await appendFile(this.#path, lines.map(observationLine).join(""));
  }
}

/**
 * The work of the history as observations.
 * @param {import("./history/history.mjs").History} history
 * @param {string} election
 * @param {number} offsetMs of the time of day from the clock of the history
 * @returns {Observation[]}
 */
export function workLines(history, election, offsetMs) {
  const falls = history.restores.filter(({ bumped }) => !bumped);
  return [...workersOf(history.operations).values()].map(({ id, token, firstMs, lastMs }) => {
    // After a restore the same candidate can win the same revision again. That is another term.
    const epoch = falls.filter(({ toMs }) => toMs <= firstMs).length;
    return {
      kind: "work",
      atMs: lastMs + offsetMs,
      election,
      id,
      token: epoch === 0 ? String(token) : `${token} after restore ${epoch}`,
      fromMs: firstMs + offsetMs,
      toMs: lastMs + offsetMs,
    };
  });
}
