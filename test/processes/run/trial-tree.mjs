// @ts-check
/**
 * A tree of processes whose end can be seen to the millisecond from outside: all of them hold one end of a pipe that the
 * supervisor has not, and the other end reports when the last of them is gone.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

/** Ignores SIGTERM with all its descendants: a grandchild, and a daemon in a session of its own without a parent. */
const stubborn = `
  exec 9>"$TRIAL_PIPE"
  trap '' TERM
  sleep 1000 &
  setsid sh -c '(sleep 1000 &)'
  echo up $(date +%s%N) >&9
  while :; do sleep 1; done`;

/** Takes 200 ms to stop, and says when it began and when it was done. */
const polite = `
  exec 9>"$TRIAL_PIPE"
  stop() { echo told $(date +%s%N) >&9; sleep 0.2; echo gone $(date +%s%N) >&9; exit 0; }
  trap stop TERM
  sleep 1000 &
  echo up $(date +%s%N) >&9
  wait`;

export const trees = { stubborn: ["sh", "-c", stubborn], polite: ["sh", "-c", polite] };

/** How long anything may take that a tree is waited for. */
const withinMs = 20_000;

const reader = new Worker(new URL("./trial-tree-reader.mjs", import.meta.url), { trackUnmanagedFds: false });
reader.unref();
/** @type {Map<number, Tree>} */
const all = new Map();
let count = 0;

reader.on("message", (message) => all.get(message.id)?.heard(message));

/** The reading end of such a pipe. */
export class Tree {
  #id = ++count;
  /** @type {Map<string, number>} what was said, and when, in milliseconds since 1970 */
  #said = new Map();
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
    await this.hears("open");
  }

  /** @param {{ type: string, line?: string, at?: number, message?: string }} message */
  heard({ type, line, at, message }) {
    if (type === "failed") this.#said.set("failed", Number.NaN);
    if (message) console.error(message);
    const [word = "", nanoseconds = "0"] = line?.split(" ") ?? [type];
    const atMs = line ? Number(BigInt(nanoseconds) / 1_000n) / 1_000 : (at ?? Date.now());
    // A child that was started again does not take the place of the first.
    if (!this.#said.has(word)) this.#said.set(word, atMs);
    for (const look of this.#waiting) look();
  }

  /**
   * The child says "up" when all of it runs, "told" when it gets SIGTERM and "gone" before it ends, if it does; "end" is
   * when the last process of the tree is no more.
   * @param {"open" | "up" | "told" | "gone" | "end"} word
   * @returns {Promise<number>} when, in milliseconds since 1970
   */
  async hears(word) {
    const find = () => this.#said.get(word);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the tree never said "${word}"`)), withinMs);
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

  close() {
    all.delete(this.#id);
  }
}
