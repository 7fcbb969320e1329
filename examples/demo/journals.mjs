// @ts-check
/** What the workers wrote down, order by order as they began: the only witness of work that was begun and not finished. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A token and an order, 8 bytes each, as the machine has them. */
const entryBytes = 16;

/**
 * @param {string} folder
 * @returns {Promise<{ begun: number, begunTwice: number, byTerm: Map<bigint, number> }>} `byTerm`: how many orders a term had begun
 *   that another term began again
 */
export async function countTwice(folder) {
  /** The token of whoever began it last. @type {Map<bigint, bigint>} */
  const beganBy = new Map();
  /** @type {Map<bigint, number>} */
  const byTerm = new Map();
  /** @type {[token: bigint, id: bigint][]} */
  const entries = [];
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith("journal-")) continue;
    const bytes = await readFile(join(folder, name));
    for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) {
      entries.push([bytes.readBigUInt64LE(at), bytes.readBigUInt64LE(at + 8)]);
    }
  }
  entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let begunTwice = 0;
  for (const [token, id] of entries) {
    const before = beganBy.get(id);
    if (before !== undefined) {
      begunTwice++;
      byTerm.set(before, (byTerm.get(before) ?? 0) + 1);
    }
    beganBy.set(id, token);
  }
  return { begun: entries.length, begunTwice, byTerm };
}
