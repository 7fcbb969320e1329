// @ts-check
/** Writes tar archives whose bytes depend only on names, modes and contents: no owners, no times, no order of the file system. */
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * @typedef {object} Entry
 * @property {string} path without a leading slash; a folder ends with one
 * @property {number} mode
 * @property {Buffer} [content] of a file
 * @property {string} [target] of a symbolic link
 */

/** @param {readonly Entry[]} entries @param {number} mtime seconds since 1970 @returns {Buffer} */
export function tar(entries, mtime) {
  const sorted = [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks = sorted.flatMap((entry) => [header(entry, mtime), ...padded(entry.content)]);
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** @param {Buffer} [content] */
function padded(content) {
  if (content === undefined) return [];
  return [content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

/** @param {Entry} entry @param {number} mtime */
function header({ path, mode, content, target }, mtime) {
  const block = Buffer.alloc(512);
  const [prefix, name] = splitPath(path);
  const octal = (/** @type {number} */ value, /** @type {number} */ length) =>
    `${value.toString(8).padStart(length - 1, "0")}\0`;
  block.write(name, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(content?.length ?? 0, 12), 124);
  block.write(octal(mtime, 12), 136);
  block.write("        ", 148);
  block.write(target === undefined ? (path.endsWith("/") ? "5" : "0") : "2", 156);
  block.write(target ?? "", 157, 100);
  block.write("ustar\x0000", 257);
  block.write(prefix, 345, 155);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** @param {string} path @returns {[string, string]} */
function splitPath(path) {
  if (Buffer.byteLength(path) <= 100) return ["", path];
  const at = path.lastIndexOf("/", path.length - 2);
  const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
  if (at < 0 || prefix.length > 155 || name.length > 100)
    throw new Error(`the path is too long for tar: ${path}`);
  return [prefix, name];
}

/** Everything under a folder. @param {string} folder @param {string} [below] @returns {Promise<Entry[]>} */
export async function entriesIn(folder, below = "") {
  /** @type {Entry[]} */
  const entries = [];
  for (const name of await readdir(join(folder, below))) {
    const path = below + name;
    const info = await lstat(join(folder, path));
    if (info.isSymbolicLink())
      entries.push({ path, mode: 0o777, target: await readlink(join(folder, path)) });
    else if (info.isDirectory())
      entries.push({ path: `${path}/`, mode: info.mode & 0o7777 }, ...(await entriesIn(folder, `${path}/`)));
    else entries.push({ path, mode: info.mode & 0o7777, content: await readFile(join(folder, path)) });
  }
  return entries;
}
