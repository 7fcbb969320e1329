// @ts-check
/** Builds a Go program of the benchmarks once, into the same cache as the servers of test/kube. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheRoot, findExecutable, folders } from "../../test/kube/assets.mjs";
import { buildPrograms } from "../../test/kube/build.mjs";

/**
 * @param {object} program
 * @param {string} program.moduleFolder
 * @param {string} program.name of the executable
 * @param {string} program.library the module that it measures
 * @param {string} program.shortName of that module, for messages
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ path: string, version: string }>} the executable and its version of the library
 */
export async function buildGoProgram({ moduleFolder, name, library, shortName }, env = process.env) {
  const [goMod = "", goSum, main] = await Promise.all(
    ["go.mod", "go.sum", "main.go"].map((file) => readFile(join(moduleFolder, file), "utf8")),
  );
  const [, version = "unknown"] = new RegExp(`${library.replaceAll(".", "\\.")} v(\\S+)`).exec(goMod) ?? [];
  // The folder name contains a hash of the source, so a change causes a new build, and two checkouts do not overwrite each other.
  const hash = createHash("sha256").update(`${goMod}\n${goSum}\n${main}`).digest("hex").slice(0, 12);
  const folder = join(cacheRoot(env), `${shortName}-${version}-${hash}`);
  const path = join(folder, name);
  if (await findExecutable(name, [folder])) return { path, version };
  const go = await findExecutable("go", folders(env));
  if (!go) {
    throw new Error(
      `Cannot build the program with ${shortName}: go is not on PATH, and there is no earlier build in ${folder}; install Go 1.26 or later`,
    );
  }
  await buildPrograms({
    go,
    folder,
    moduleFolder,
    programs: [{ name, version: `with ${shortName} ${version}`, source: ".", ldflags: "-s -w" }],
  });
  return { path, version };
}
