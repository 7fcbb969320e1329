// @ts-check
/**
 * A register that the leader writes, like any storage that a leader owns. A fenced register remembers the greatest token and
 * refuses older ones. An open register accepts everything, so that only tenure protects it.
 */
import { initialValue } from "../history/history.mjs";

/** The token of a reader that is no candidate. It is never refused. */
export const observerToken = 0n;

export class Register {
  value = initialValue;
  /** The number of writes that were accepted. */
  seq = 0;
  #isFenced;
  #greatest = observerToken;

  /** @param {boolean} isFenced */
  constructor(isFenced) {
    this.#isFenced = isFenced;
  }

  /**
   * A read counts as a use of the token too. Otherwise a late write of an older term could come between the first read and
   * the first write of the next one.
   * @param {bigint} token
   * @param {string} [value] to write; without it, this is a read
   * @returns {{ outcome: "ok" | "refused", seq: number, value?: string }}
   */
  apply(token, value) {
    if (this.#isFenced && token !== observerToken) {
      if (token < this.#greatest) return { outcome: "refused", seq: this.seq };
      this.#greatest = token;
    }
    if (value === undefined) return { outcome: "ok", seq: this.seq, value: this.value };
    this.seq += 1;
    this.value = value;
    return { outcome: "ok", seq: this.seq };
  }

  /** What an operator does after a restore of the store that gave the tokens. */
  forgetTokens() {
    this.#greatest = observerToken;
  }
}
