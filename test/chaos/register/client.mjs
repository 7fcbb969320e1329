// @ts-check
/** Performs operations on the registers for one worker, and records each of them in the history. */
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { nowMs } from "../history/history.mjs";

/**
 * @typedef {import("../history/history.mjs").RegisterName} RegisterName
 * @typedef {{ op: number, outcome: "ok" | "refused", seq: number, value?: string }} Answer
 * @typedef {{ untilMs: number, atMs: number, checks: boolean }} Right since when and until when the worker may work
 */

export class RegisterClient {
  #identity;
  #history;
  #socket;
  #op = 0;
  /** @type {Map<number, (answer: Answer) => void>} */
  #waiting = new Map();

  /**
   * @param {number} port
   * @param {import("../history/history.mjs").HistoryFile} history
   * @param {{ id: string, token: string }} identity
   */
  constructor(port, history, identity) {
    this.#identity = identity;
    this.#history = history;
    this.#socket = connect(port, "127.0.0.1");
    const lines = createInterface({ input: this.#socket });
    // The registers live as long as the test. The interface repeats the error of its socket.
    for (const source of [this.#socket, lines]) source.on("error", () => process.exit(1));
    lines.on("line", (line) => {
      const answer = /** @type {Answer} */ (JSON.parse(line));
      this.#waiting.get(answer.op)?.(answer);
      this.#waiting.delete(answer.op);
    });
  }

  /** @param {RegisterName} register @param {Right} right */
  read(register, right) {
    return this.#perform(register, right, { what: "read" });
  }

  /** @param {RegisterName} register @param {Right} right @param {string} value @param {string} after */
  write(register, right, value, after) {
    return this.#perform(register, right, { what: "write", value, after });
  }

  close() {
    this.#socket.destroy();
  }

  /**
   * @param {RegisterName} register
   * @param {Right} right
   * @param {{ what: "read" | "write", value?: string, after?: string }} what
   * @returns {Promise<Answer>}
   */
  async #perform(register, right, what) {
    this.#op += 1;
    const { pid } = process;
    const op = this.#op;
    this.#history.append({ kind: "invoke", op, pid, ...this.#identity, register, ...right, ...what });
    const { token } = this.#identity;
    const line = JSON.stringify({ op, register, token, value: what.value });
    const answered = new Promise((resolve) => this.#waiting.set(op, resolve));
    this.#socket.write(`${line}\n`);
    const { outcome, seq, value } = /** @type {Answer} */ (await answered);
    const atMs = nowMs();
    this.#history.append({
      kind: "return",
      op,
      pid,
      outcome,
      seq,
      ...(value !== undefined && { value }),
      atMs,
    });
    return { op, outcome, seq, ...(value !== undefined && { value }) };
  }
}
