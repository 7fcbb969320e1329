// @ts-check
/** Starts the process with the registers. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nowMs } from "../history/history.mjs";
import { observer } from "../history/workers.mjs";
import { RegisterClient } from "./client.mjs";
import { observerToken } from "./register.mjs";

export class RegisterProcess {
  port = 0;
  #child;
  #isClosed = false;
  /** @type {Promise<any>} the answer to the last question */
  #asking = Promise.resolve();

  /** @param {string} historyPath */
  constructor(historyPath) {
    this.#child = fork(fileURLToPath(new URL("./server.mjs", import.meta.url)), [historyPath]);
    this.#child.once("exit", (code, signal) => {
      if (this.#isClosed) return;
      // Without the registers nothing can be judged. The cleanup processes of the servers remove what is left.
      console.error(`The process with the registers exited (${signal ?? code})`);
      process.exit(1);
    });
  }

  /** @returns {Promise<void>} */
  async ready() {
    const [{ port }] = await once(this.#child, "message");
    this.port = port;
  }

  async forgetTokens() {
    await this.#ask("forget-tokens");
  }

  /** @returns {Promise<number>} how many writes the fenced register has accepted */
  async writes() {
    return (await this.#ask("count")).writes;
  }

  /** Reads the last values into the history. @param {import("../history/history.mjs").HistoryFile} history */
  async readAll(history) {
    const client = new RegisterClient(this.port, history, { id: observer, token: String(observerToken) });
    const right = () => ({ atMs: nowMs(), untilMs: Number.MAX_VALUE, checks: true });
    await client.read("fenced", right());
    await client.read("open", right());
    client.close();
  }

  /** The process answers questions in order, and there is only one at a time. @param {string} question */
  #ask(question) {
    this.#asking = this.#asking.then(async () => {
      const answered = once(this.#child, "message");
      this.#child.send(question);
      return (await answered)[0];
    });
    return this.#asking;
  }

  close() {
    this.#isClosed = true;
    if (this.#child.connected) this.#child.disconnect();
  }
}
