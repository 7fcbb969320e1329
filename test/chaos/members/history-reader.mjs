// @ts-check
/** Reads a history that grows, each line once: the API server runs in the same process, and must not wait for the reader. */
import { openSync, readSync } from "node:fs";
import { follow } from "./judge.mjs";

const chunkBytes = 64 * 1024;

export class HistoryReader {
  #file;
  #position = 0;
  #rest = "";
  /** @type {import("./judge.mjs").Entry[]} */
  #entries = [];
  /** @type {Map<number, string>} */
  #owners = new Map();

  /** @param {string} path */
  constructor(path) {
    this.#file = openSync(path, "r");
  }

  entries() {
    this.#read();
    return this.#entries;
  }

  /** Who works on what now. */
  owners() {
    this.#read();
    return this.#owners;
  }

  #read() {
    const buffer = Buffer.alloc(chunkBytes);
    for (;;) {
      const bytes = readSync(this.#file, buffer, 0, chunkBytes, this.#position);
      if (bytes === 0) return;
      this.#position += bytes;
      const lines = (this.#rest + buffer.toString("utf8", 0, bytes)).split("\n");
      this.#rest = lines.pop() ?? "";
      const added = lines.map((line) => /** @type {import("./judge.mjs").Entry} */ (JSON.parse(line)));
      this.#entries.push(...added);
      follow(this.#owners, added);
    }
  }
}
