// @ts-check
/** Who owns which shard, from the lines of the members. */
import { monoMs } from "./clock.mjs";

/** @typedef {import("./candidates.mjs").CandidateProcess} Member */

export class Owners {
  /** @type {Map<number, Set<string>>} */
  #owners = new Map();
  /** When the shard lost its last owner, and for how long it then had none. @type {Map<number, { sinceMs?: number, gapMs?: number }>} */
  #gaps = new Map();
  /** @type {Set<() => void>} */
  #changes = new Set();
  overlaps = 0;

  /** @param {Member} member */
  follow(member) {
    member.onLine(({ event, shard, id, monoMs: atMs }) => {
      if (shard === undefined) return;
      const owners = this.#ownersOf(shard);
      if (event === "owned") {
        if (owners.size > 0) this.overlaps += 1;
        owners.add(id);
        const { sinceMs } = this.#gaps.get(shard) ?? {};
        if (sinceMs !== undefined) this.#gaps.set(shard, { gapMs: atMs - sinceMs });
      } else if (owners.delete(id)) this.#gaps.set(shard, { sinceMs: atMs });
      for (const changed of this.#changes) changed();
    });
  }

  /** Call it just before the member is killed: it cannot say any more that it drops its shards. @param {Member} member */
  killed({ id }) {
    for (const [shard, owners] of this.#owners)
      if (owners.delete(id)) this.#gaps.set(shard, { sinceMs: monoMs() });
  }

  /** @param {readonly Member[]} members @returns {number[]} how many shards each of them owns, the largest first */
  shares(members) {
    return members.map((member) => this.shardsOf(member).length).sort((a, b) => b - a);
  }

  /** @param {Member} member @returns {number[]} */
  shardsOf({ id }) {
    return [...this.#owners].filter(([, owners]) => owners.has(id)).map(([shard]) => shard);
  }

  /** @param {readonly Member[]} members @returns {Member} */
  largest(members) {
    const [first] = [...members].sort((a, b) => this.shardsOf(b).length - this.shardsOf(a).length);
    if (first === undefined) throw new Error("there is no member");
    return first;
  }

  /** @param {readonly number[]} shards @returns {number | undefined} how long one of them was without an owner, the last time */
  longestGap(shards) {
    const gaps = shards.flatMap((shard) => this.#gaps.get(shard)?.gapMs ?? []);
    return gaps.length === 0 ? undefined : Math.max(...gaps);
  }

  /** Resolves as soon as each of the `count` shards has an owner. @param {number} count @param {number} timeoutMs */
  allOwned(count, timeoutMs) {
    const owned = () => [...this.#owners.values()].filter(({ size }) => size > 0).length;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#changes.delete(check);
        reject(new Error(`only ${owned()} of ${count} shards have an owner after ${timeoutMs} ms`));
      }, timeoutMs);
      const check = () => {
        if (owned() < count) return;
        clearTimeout(timer);
        this.#changes.delete(check);
        resolve(undefined);
      };
      this.#changes.add(check);
      check();
    });
  }

  /** @param {number} shard */
  #ownersOf(shard) {
    const owners = this.#owners.get(shard) ?? new Set();
    this.#owners.set(shard, owners);
    return owners;
  }
}
