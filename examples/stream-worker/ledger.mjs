// @ts-check
/**
 * The state of the order service: which orders are finished, by whom, and the highest token it has seen. This is all that storage
 * needs to be safe from a stale worker, one that was replaced and does not know it yet.
 */
export class Ledger {
  placed = 0;
  finished = 0;
  twice = 0;
  redelivered = 0;
  refused = 0;
  left = 0;
  dropped = 0;
  /** @type {Record<string, number>} */
  workers = {};
  highestToken = 0n;
  /** All orders up to this one are finished. */
  prefix = 0;
  #finished = new Uint8Array(1_024);
  #given = 0;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {bigint} token */
  admits(token) {
    if (token < this.highestToken) {
      this.refused++;
      return false;
    }
    this.highestToken = token;
    return true;
  }

  /** @param {number} count */
  place(count) {
    this.placed += count;
    if (this.placed >= this.#finished.length) {
      const larger = new Uint8Array(this.placed * 2);
      larger.set(this.#finished);
      this.#finished = larger;
    }
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Calls `wake` once, when more orders are placed. @param {() => void} wake */
  whenPlaced(wake) {
    this.#waiting.push(wake);
  }

  /** @param {number} id */
  isFinished(id) {
    return this.#finished[id] === 1;
  }

  /** @param {number} id */
  give(id) {
    if (id <= this.#given) this.redelivered++;
    else this.#given = id;
  }

  /** @param {number} id @param {string} worker */
  finish(id, worker) {
    if (!Number.isInteger(id) || id < 1 || id > this.placed) return false;
    if (this.isFinished(id)) {
      this.twice++;
      return true;
    }
    this.#finished[id] = 1;
    this.finished++;
    this.workers[worker] = (this.workers[worker] ?? 0) + 1;
    while (this.isFinished(this.prefix + 1)) this.prefix++;
    return true;
  }

  report() {
    const { placed, finished, twice, redelivered, refused, left, dropped, workers } = this;
    return { placed, finished, twice, redelivered, refused, left, dropped, workers };
  }
}
