/** Which mutants of a package, or of "shards", are tried, and which tests count. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findMutants } from "./mutants.mjs";

export const root = new URL("../..", import.meta.url).pathname;

const tracked = (...paths) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...paths], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path.endsWith(".ts"));

const isTest = (path) => path.endsWith(".test.ts");

/** Sets of shards have their own machine, beside that of an election. The histories that test it need the simulator. */
const shards = ["packages/core/src/shards", "packages/election/src/shards"];
const foldersOf = (name) => (name === "shards" ? shards : [`packages/${name}/src`]);
const belongsTo = (name) => (path) =>
  name === "shards" || !shards.some((folder) => path.startsWith(`${folder}/`));

/** Only the package's own tests count: a bug gets its test in the earliest layer. They also tell best what is wrong. */
export function testFilesFor(name) {
  const folders = name === "shards" ? [...shards, "packages/simulator/src/shards"] : foldersOf(name);
  return tracked(...folders).filter((path) => isTest(path) && belongsTo(name)(path));
}

/** Every mutant of the package with a number, and the ones to try. */
export function chooseMutants(name, options) {
  const files = tracked(...foldersOf(name)).filter(
    (path) => !isTest(path) && !path.includes("/testing/") && belongsTo(name)(path),
  );
  const all = files
    .flatMap((path) =>
      findMutants(path, readFileSync(join(root, path), "utf8")).map((mutant) => ({ path, ...mutant })),
    )
    .map((mutant, id) => ({ id, ...mutant }));
  const wanted = all.filter((mutant) => isWanted(mutant, options));
  const chosen = options.sample ? sample(wanted, Number(options.sample), Number(options.seed)) : wanted;
  return { all, mutants: chosen };
}

function isWanted(mutant, { file, line, id }) {
  if (id !== undefined && !id.split(",").includes(String(mutant.id))) return false;
  if (file !== undefined && !mutant.path.endsWith(file)) return false;
  return line === undefined || Number(line) === mutant.line;
}

/** The same seed chooses the same mutants of the same sources. */
function sample(mutants, size, seed) {
  const random = numbersFrom(seed);
  return mutants
    .map((mutant) => ({ mutant, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, size)
    .map(({ mutant }) => mutant)
    .sort((a, b) => a.id - b.id);
}

/** mulberry32 */
function numbersFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
