// @ts-check
/**
 * Observes the workers from outside. Each worker reports every step of work, with its token and the time of the monotonic
 * clock that all processes of the machine share. The witness records who worked when, and finds overlaps and tokens that do
 * not increase.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/**
 * @typedef {{ id: string, pid: number, token: bigint, firstMs: number, lastMs: number, steps: number }} Term
 * @typedef {{ atMs: number, text: string }} Finding
 */

export class Witness {
  /** @type {Map<bigint, Term>} */
  #terms = new Map();
  #server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket }).on("line", (line) => this.#record(JSON.parse(line)));
  });

  async listen() {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
  }

  close() {
    this.#server.close();
  }

  /** All terms, in the order of their first step. */
  get terms() {
    return [...this.#terms.values()].sort((a, b) => a.firstMs - b.firstMs);
  }

  get steps() {
    return this.terms.reduce((sum, term) => sum + term.steps, 0);
  }

  /** Successive terms whose work overlaps, or of which the later one does not have the greater token. */
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

  /** The time without work between each term and the next, in milliseconds. */
  gaps() {
    return this.terms
      .slice(1)
      .map((term, index) => term.firstMs - /** @type {Term} */ (this.terms[index]).lastMs);
  }

  /** @param {{ id: string, pid: number, token: string, atMs: number }} step */
  #record({ id, pid, token: text, atMs }) {
    const token = BigInt(text);
    const term = this.#terms.get(token);
    if (!term) {
      this.#terms.set(token, { id, pid, token, firstMs: atMs, lastMs: atMs, steps: 1 });
      return;
    }
    term.firstMs = Math.min(term.firstMs, atMs);
    term.lastMs = Math.max(term.lastMs, atMs);
    term.steps += 1;
  }
}

/** @param {Term} term */
function describe(term) {
  return `${term.id} (token ${term.token}, ${term.firstMs.toFixed(0)}–${term.lastMs.toFixed(0)})`;
}
