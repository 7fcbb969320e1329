// @ts-check
/**
 * The history of a run: one JSON object per line, appended by the workers, the register and the test itself to one file.
 *
 * A worker writes a line before it sends an operation and another one when the answer has arrived. A worker that is killed in
 * between leaves only the first, so the outcome of that operation is unknown. All times are readings of the monotonic clock
 * that all processes of a machine share.
 */
import { closeSync, openSync, writeSync } from "node:fs";

/**
 * @typedef {"fenced" | "open"} RegisterName a fenced register refuses older tokens, an open one refuses nothing
 *
 * @typedef {object} Invocation a worker is about to send an operation
 * @property {"invoke"} kind
 * @property {number} op the number of the operation, different for each of this process
 * @property {number} pid
 * @property {string} id identity of the candidate
 * @property {string} token
 * @property {"write" | "read"} what
 * @property {RegisterName} register
 * @property {string} [value] written; no other write has it
 * @property {string} [after] the value that the worker believes to replace
 * @property {number} atMs
 * @property {number} untilMs until when the worker may work, as far as it knows
 * @property {boolean} checks whether the worker checks the clock before each operation
 *
 * @typedef {object} Return the answer has arrived
 * @property {"return"} kind
 * @property {number} op
 * @property {number} pid
 * @property {"ok" | "refused"} outcome
 * @property {number} seq how many writes the register has accepted, including this one
 * @property {string} [value] read
 * @property {number} atMs
 *
 * @typedef {{ kind: "run", target: string, seed: number, replicas: number, leaseMs: number }} Run
 * @typedef {{ kind: "ended", id: string, token: string, atMs: number }} Ended a term has ended: its work has stopped
 * @typedef {{ kind: "restore", fromMs: number, toMs: number, bumped: boolean }} Restore the store went down, and came back with an older state when nobody worked
 * @typedef {{ kind: "reset", register: RegisterName, seq: number }} Reset somebody told the register to forget which tokens it has seen
 * @typedef {{ kind: "stall", fromMs: number, toMs: number }} Stall the register's process did not run, because the machine was busy
 *
 * @typedef {Invocation | Return | Run | Ended | Restore | Reset | Stall} Entry
 * @typedef {import("../objects/history.mjs").ObjectEntry} ObjectEntry judged apart, see ../objects
 *
 * @typedef {object} Operation
 * @property {number} pid
 * @property {string} id
 * @property {bigint} token
 * @property {"write" | "read"} what
 * @property {RegisterName} register
 * @property {string} value written or read; "" if the answer to a read is missing
 * @property {string} after
 * @property {number} invokedMs
 * @property {number} returnedMs Infinity if there was no answer
 * @property {number} untilMs
 * @property {boolean} checks
 * @property {"ok" | "refused" | "unknown"} outcome
 * @property {number} seq -1 if it is not known
 *
 * @typedef {object} History
 * @property {Run | undefined} run
 * @property {Operation[]} operations in the order of their invocation
 * @property {Ended[]} ended
 * @property {Restore[]} restores
 * @property {Reset[]} resets
 * @property {Stall[]} stalls
 */

/** The value of a register before the first write. */
export const initialValue = "";

export function nowMs() {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

export class HistoryFile {
  #file;

  /** @param {string} path */
  constructor(path) {
    // Appends of several processes do not overwrite each other.
    this.#file = openSync(path, "a");
  }

  /** The entry survives a kill of this process at any later time. @param {Entry | ObjectEntry} entry */
  append(entry) {
    // A line that a kill cut short must not swallow the next one.
    writeSync(this.#file, `\n${JSON.stringify(entry)}\n`);
  }

  close() {
    closeSync(this.#file);
  }
}

/**
 * @param {Iterable<string> | AsyncIterable<string>} lines
 * @returns {Promise<History>}
 */
export async function readHistory(lines) {
  /** @type {History} */
  const history = { run: undefined, operations: [], ended: [], restores: [], resets: [], stalls: [] };
  /** @type {Map<string, Operation>} */
  const open = new Map();
  for await (const line of lines) {
    const entry = parse(line);
    if (entry) add(history, open, entry);
  }
  history.operations.sort((a, b) => a.invokedMs - b.invokedMs);
  return history;
}

/** @param {string} line @returns {Entry | undefined} */
function parse(line) {
  if (line === "") return undefined;
  try {
    return JSON.parse(line);
  } catch {
    // A kill cut the line short. The process sends an operation only after its line is complete, so nothing is missing.
    return undefined;
  }
}

/** @param {History} history @param {Map<string, Operation>} open @param {Entry} entry */
function add(history, open, entry) {
  switch (entry.kind) {
    case "invoke": {
      const operation = operationOf(entry);
      history.operations.push(operation);
      open.set(`${entry.pid}/${entry.op}`, operation);
      return;
    }
    case "return": {
      const operation = open.get(`${entry.pid}/${entry.op}`);
      open.delete(`${entry.pid}/${entry.op}`);
      if (!operation) return;
      operation.returnedMs = entry.atMs;
      operation.outcome = entry.outcome;
      operation.seq = entry.seq;
      if (operation.what === "read") operation.value = entry.value ?? initialValue;
      return;
    }
    case "run":
      history.run = entry;
      return;
    case "ended":
      history.ended.push(entry);
      return;
    case "restore":
      history.restores.push(entry);
      return;
    case "reset":
      history.resets.push(entry);
      return;
    case "stall":
      history.stalls.push(entry);
  }
}

/** @param {Invocation} entry @returns {Operation} */
function operationOf({ pid, id, token, what, register, value, after, atMs, untilMs, checks }) {
  return {
    pid,
    id,
    token: BigInt(token),
    what,
    register,
    value: value ?? initialValue,
    after: after ?? initialValue,
    invokedMs: atMs,
    returnedMs: Number.POSITIVE_INFINITY,
    untilMs,
    checks,
    outcome: "unknown",
    seq: -1,
  };
}
