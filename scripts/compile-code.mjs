// @ts-check
/**
 * Writes the code that V8 compiles from bundle/run.cjs into a file beside it, from which packages/cli/bin/compiled-code.cjs loads it.
 * Such a file fits only the version of V8 and the processor on which it was made. The same text gives the same bytes.
 *
 *     node --random-seed=1 --hash-seed=1 scripts/compile-code.mjs FOLDER
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import Module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";

const self = fileURLToPath(import.meta.url);
/** With random numbers, the bytes would differ from build to build. */
const seeds = ["--random-seed=1", "--hash-seed=1"];

/** @param {string} folder of the bundle @param {string} [node] the Node that will load it */
export function compileCode(folder, node = process.execPath) {
  execFileSync(node, [...seeds, self, folder], { stdio: ["ignore", "inherit", "inherit"] });
}

/** @param {string} folder */
function compile(folder) {
  const text = readFileSync(join(folder, "run.cjs"));
  // All functions, not only those that run when the file is loaded.
  setFlagsFromString("--no-lazy");
  const script = new Script(Module.wrap(text.toString("utf8")), { filename: "run.cjs" });
  // V8 loads code only if it was made with the flags that it has then.
  for (const flag of ["--lazy", "--random-seed=0", "--hash-seed=0"]) setFlagsFromString(flag);
  const name = `run-${process.versions.v8}-${process.arch}.compiled`;
  writeFileSync(join(folder, name), Buffer.concat([script.createCachedData(), text]));
}

const [, program, folder] = process.argv;
if (program === self && folder !== undefined) compile(folder);
