// @ts-check
/** Reads the workers' journals, which list every started order: the only evidence of work that was started and not finished. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A token and an order, 8 bytes each, little-endian. */
const entryBytes = 16;

/**
 * @param {string} folder
 * @returns {Promise<{ started: number, startedTwice: number, restartedByTerm: Map<bigint, number> }>} `restartedByTerm`: for each
 *   term, how many of the orders that it started were started again by another term
 */
export async function readJournals(folder) {
  /** For each order, the token of the term that started it last. @type {Map<bigint, bigint>} */
  const lastTerm = new Map();
  /** @type {Map<bigint, number>} */
  const restartedByTerm = new Map();
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
  let startedTwice = 0;
  for (const [token, id] of entries) {
    const before = lastTerm.get(id);
    if (before !== undefined) {
      startedTwice++;
      restartedByTerm.set(before, (restartedByTerm.get(before) ?? 0) + 1);
    }
    lastTerm.set(id, token);
  }
  return { started: entries.length, startedTwice, restartedByTerm };
}
