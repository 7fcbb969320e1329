/** Which mutants of a package are tried, and which tests count. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { equivalents } from "./equivalents.mjs";
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

/** The packages whose tests run a package in memory, quickly. */
const testedBy = {
  core: ["core", "election"],
  election: ["election"],
  kube: ["kube"],
};

export function testFilesFor(name) {
  const packages = testedBy[name] ?? [name];
  return tracked(...packages.map((other) => `packages/${other}/src`)).filter(isTest);
}

/** Every mutant of the package with a number, and the ones to try. */
export function chooseMutants(name, options) {
  const files = tracked(`packages/${name}/src`).filter(
    (path) => !isTest(path) && !path.includes("/testing/"),
  );
  const all = files
    .flatMap((path) =>
      findMutants(path, readFileSync(join(root, path), "utf8")).map((mutant) => ({ path, ...mutant })),
    )
    .map((mutant, id) => ({ id, ...mutant }));
  const excluded = all.filter((mutant) => equivalents.some((entry) => matches(entry, mutant)));
  const stale = equivalents.filter(
    (entry) => entry.path.startsWith(`packages/${name}/`) && !all.some((mutant) => matches(entry, mutant)),
  );
  const counted = all
    .filter((mutant) => !excluded.includes(mutant))
    .filter((mutant) => isWanted(mutant, options));
  const chosen = options.sample ? sample(counted, Number(options.sample), Number(options.seed)) : counted;
  return { all, excluded, stale, mutants: chosen };
}

function matches(entry, mutant) {
  return (
    entry.path === mutant.path &&
    entry.code === mutant.code &&
    entry.original === mutant.original &&
    entry.mutated.includes(mutant.mutated)
  );
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
