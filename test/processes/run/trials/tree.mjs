// @ts-check
/**
 * A process tree whose end can be measured to the millisecond. All its processes, but not the supervisor, hold the writing end
 * of a pipe, which closes when the last of them exits.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

/** Ignores SIGTERM, with all its descendants: a child, and a daemon in its own session without a parent. */
const stubborn = `
  exec 9>"$TRIAL_PIPE"
  trap '' TERM
  sleep 1000 &
  setsid sh -c '(sleep 1000 &)'
  echo up $(date +%s%N) >&9
  while :; do sleep 1; done`;

/**
 * Takes 200 ms to stop, and reports when it begins and when it is done. bash knows the time without starting another program,
 * which would take milliseconds of what is measured.
 */
const polite = `
  exec 9>"$TRIAL_PIPE"
  report() { local now=$EPOCHREALTIME; echo "$1 \${now/[.,]/}000" >&9; }
  stop() { report told; sleep 0.2; report gone; exit 0; }
  trap stop TERM
  report up
  sleep 1000 &
  wait`;

/** Runs on every replica, and reports when its term begins. It takes 200 ms to stop, as the one above. */
const warm = `
  const { openSync, writeSync } = require("node:fs");
  const pipe = openSync(process.env.TRIAL_PIPE, "w");
  const report = (word) =>
    writeSync(pipe, word + " " + Math.round((performance.timeOrigin + performance.now()) * 1_000) + "000\\n");
  const stop = (then) => {
    report("told");
    setTimeout(() => {
      report("gone");
      then();
    }, 200);
  };
  process.on("message", ({ tenure }) => {
    if (tenure === "begin") report("begun");
    else stop(() => process.send("stopped"));
  });
  process.on("SIGTERM", () => stop(() => process.exit(0)));
  report("up");`;

export const trees = {
  stubborn: ["sh", "-c", stubborn],
  polite: ["bash", "-c", polite],
  warm: [process.execPath, "-e", warm],
};

/** How long to wait for an event. */
const withinMs = 20_000;

const reader = new Worker(new URL("./tree-reader.mjs", import.meta.url), { trackUnmanagedFds: false });
reader.unref();
/** @type {Map<number, Tree>} */
const all = new Map();
let count = 0;

reader.on("message", (message) => all.get(message.id)?.onMessage(message));

/** @typedef {"open" | "up" | "begun" | "told" | "gone" | "end"} TreeEvent */

/** The reading end of the pipe. */
export class Tree {
  #id = ++count;
  /** @type {Map<string, number>} when each event happened, in milliseconds since 1970 */
  #times = new Map();
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {string} folder */
  constructor(folder) {
    this.path = join(folder, `pipe-${this.#id}`);
  }

  async make() {
    await promisify(execFile)("mkfifo", [this.path]);
    all.set(this.#id, this);
    reader.postMessage({ id: this.#id, path: this.path });
    await this.timeOf("open");
  }

  /** @param {{ type: string, line?: string, at?: number, message?: string }} message */
  onMessage({ type, line, at, message }) {
    if (type === "failed") this.#times.set("failed", Number.NaN);
    if (message) console.error(message);
    const [word = "", nanoseconds = "0"] = line?.split(" ") ?? [type];
    const atMs = line ? Number(BigInt(nanoseconds) / 1_000n) / 1_000 : (at ?? Date.now());
    // Keeps the time of the first child if it was restarted.
    if (!this.#times.has(word)) this.#times.set(word, atMs);
    for (const look of this.#waiting) look();
  }

  /**
   * Waits for an event. "up": the whole tree runs. "begun": the warm child knows that its term began. "told": the child was
   * asked to stop. "gone": its work has stopped. "end": the last process of the tree has exited.
   * @param {TreeEvent} event
   * @returns {Promise<number>} the time of the event, in milliseconds since 1970
   */
  async timeOf(event) {
    const find = () => this.#times.get(event);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no "${event}" within ${withinMs} ms`)), withinMs);
      const look = () => {
        const at = find();
        if (at === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(at);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** @param {TreeEvent} event */
  has(event) {
    return this.#times.has(event);
  }

  close() {
    all.delete(this.#id);
  }
}
