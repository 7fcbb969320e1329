// @ts-check
/** Judges the history of a set of shards. Pure. */

/**
 * @typedef {object} Entry in the order in which they were appended
 * @property {"start" | "step" | "stop" | "killed" | "frozen" | "settled"} what
 * @property {string} [id] the member; absent if all members have settled
 * @property {number} [shard]
 * @property {string} [token]
 * @property {number} atMs by the clock that all processes of the machine share
 * @property {number} [least] with "settled": how many shards had to move since the last time
 *
 * @typedef {object} Verdict
 * @property {string[]} doubles work of two members on one shard at the same time
 * @property {number[]} gapsMs how long a shard was without work, from when it stopped until the next start
 * @property {number} moves how often a shard changed its owner, while the members settled
 * @property {number} leastMoves how often it had to
 */

/**
 * @param {readonly Entry[]} entries
 * @returns {Verdict}
 */
export function judgeMembers(entries) {
  /** @type {Map<number, { id: string, isWorking: boolean, token: string, sinceMs: number }>} */
  const shards = new Map();
  /** @type {Verdict} */
  const verdict = { doubles: [], gapsMs: [], moves: 0, leastMoves: 0 };
  let isFirst = true;
  let moves = 0;
  for (const [index, { what, id = "", shard = -1, token = "", atMs, least = 0 }] of entries.entries()) {
    const line = `line ${index + 1}`;
    const known = shards.get(shard);
    switch (what) {
      case "start":
        if (known?.isWorking && known.id !== id)
          verdict.doubles.push(`${line}: ${id} starts shard ${shard} while ${known.id} works on it`);
        if (known && token <= known.token)
          verdict.doubles.push(`${line}: the token of shard ${shard} does not grow`);
        if (known && !known.isWorking) verdict.gapsMs.push(atMs - known.sinceMs);
        if (known && known.id !== id) moves += 1;
        shards.set(shard, { id, isWorking: true, token, sinceMs: atMs });
        break;
      case "step":
        if (known && token < known.token)
          verdict.doubles.push(`${line}: ${id} works on shard ${shard} although ${known.id} owns it`);
        break;
      case "stop":
        if (known?.id === id && known.token === token && known.isWorking)
          shards.set(shard, { ...known, isWorking: false, sinceMs: atMs });
        break;
      case "killed":
      case "frozen":
        for (const [each, owner] of shards)
          if (owner.id === id && owner.isWorking)
            shards.set(each, { ...owner, isWorking: false, sinceMs: atMs });
        break;
      case "settled":
        // The first distribution is no movement.
        if (!isFirst) {
          verdict.moves += moves;
          verdict.leastMoves += least;
        }
        isFirst = false;
        moves = 0;
    }
  }
  return verdict;
}

/**
 * Adds to who works on what, as far as the history shows.
 * @param {Map<number, string>} owners the member by shard
 * @param {readonly Entry[]} entries
 */
export function follow(owners, entries) {
  for (const { what, id = "", shard = -1 } of entries) {
    if (what === "start") owners.set(shard, id);
    if (what === "stop" && owners.get(shard) === id) owners.delete(shard);
    if (what === "killed" || what === "frozen")
      for (const [each, owner] of owners) if (owner === id) owners.delete(each);
  }
}
