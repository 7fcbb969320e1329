// @ts-check
/**
 * Stands outside of all candidates. Workers tell it each thing they do, with their token and the time of the machine's
 * one monotonic clock; it keeps who worked when, and refuses a token that is lower than one it has seen, as a storage with
 * fencing would.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/**
 * @typedef {{ id: string, pid: number, token: bigint, firstMs: number, lastMs: number, beats: number }} Term
 * @typedef {{ atMs: number, text: string }} Finding
 */

export class Witness {
  /** @type {Map<bigint, Term>} */
  #terms = new Map();
  #server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket }).on("line", (line) => this.#heard(JSON.parse(line)));
  });

  async listen() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
  }

  close() {
    this.#server.close();
  }

  /** Terms in the order in which they began. */
  get terms() {
    return [...this.#terms.values()].sort((a, b) => a.firstMs - b.firstMs);
  }

  get beats() {
    return this.terms.reduce((sum, term) => sum + term.beats, 0);
  }

  /** Two terms whose work overlaps in time, or of which the later one has the lower token. */
  findings() {
    /** @type {Finding[]} */
    const overlaps = [];
    /** @type {Finding[]} */
    const disorder = [];
    const terms = this.terms;
    terms.forEach((term, index) => {
      const next = terms[index + 1];
      if (!next) return;
      const both = `${describe(term)} and ${describe(next)}`;
      if (term.lastMs >= next.firstMs) {
        overlaps.push({
          atMs: next.firstMs,
          text: `${both} overlap by ${(term.lastMs - next.firstMs).toFixed(1)} ms`,
        });
      }
      if (term.token >= next.token)
        disorder.push({ atMs: next.firstMs, text: `${both}: the later token is not greater` });
    });
    return { overlaps, disorder };
  }

  /** How long nobody worked between one term and the next, in milliseconds. */
  gaps() {
    return this.terms
      .slice(1)
      .map((term, index) => term.firstMs - /** @type {Term} */ (this.terms[index]).lastMs);
  }

  /** @param {{ id: string, pid: number, token: string, atMs: number }} beat */
  #heard({ id, pid, token: text, atMs }) {
    const token = BigInt(text);
    const term = this.#terms.get(token);
    if (!term) {
      this.#terms.set(token, { id, pid, token, firstMs: atMs, lastMs: atMs, beats: 1 });
      return;
    }
    term.firstMs = Math.min(term.firstMs, atMs);
    term.lastMs = Math.max(term.lastMs, atMs);
    term.beats += 1;
  }
}

/** @param {Term} term */
function describe(term) {
  return `${term.id} (token ${term.token}, ${term.firstMs.toFixed(0)}–${term.lastMs.toFixed(0)})`;
}
