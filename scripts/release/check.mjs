// @ts-check
/** Checks packed packages: their sizes, what must be in them, and what publint and attw find. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { publicPackages } from "./packages.mjs";

/** @typedef {import("./stage.mjs").Packed} Packed */

const run = promisify(execFile);
const tools = { publint: "0.3.25", "@arethetypeswrong/cli": "0.18.5" };
/** These have a CommonJS file beside the ES module. */
const dual = ["base", "core", "kube", "election", "testkit"];

/** Prints the sizes. @param {readonly Packed[]} packed @returns {string[]} what is wrong, one sentence each */
export function checkSizes(packed) {
  /** @param {number} bytes */
  const kb = (bytes) => `${Math.ceil(bytes / 1000)} kB`;
  const width = Math.max(...packed.map(({ name }) => name.length));
  for (const { name, packedBytes, unpackedBytes, files, folder } of packed) {
    const limit = publicPackages[folder]?.unpackedKb ?? 0;
    console.log(
      `${name.padEnd(width)}  ${kb(packedBytes).padStart(8)} packed  ${kb(unpackedBytes).padStart(8)} unpacked (at most ${limit} kB)  ${files.length} files`,
    );
  }
  return packed.flatMap(({ name, folder, unpackedBytes, files }) => [
    ...(unpackedBytes > (publicPackages[folder]?.unpackedKb ?? 0) * 1000
      ? [`${name} has ${kb(unpackedBytes)}, more than the limit in scripts/release/packages.mjs`]
      : []),
    ...["LICENSE", "README.md", "package.json"]
      .filter((file) => !files.includes(file))
      .map((file) => `${name} has no ${file}`),
    ...files
      .filter((file) => /\.tsbuildinfo$|\.test\.|(^|\/)testing\//.test(file))
      .map((file) => `${name} contains ${file}`),
    ...(files.some((file) => file.endsWith(".js")) && !files.some((file) => file.endsWith(".js.map"))
      ? [`${name} has no source maps`]
      : []),
    ...(files.some((file) => file.endsWith(".d.ts")) ? [] : [`${name} has no types`]),
  ]);
}

/** @param {readonly Packed[]} packed @returns {Promise<string[]>} */
export async function checkPackages(packed) {
  const toolbox = await mkdtemp(join(tmpdir(), "tenure-release-tools-"));
  try {
    await mkdir(toolbox, { recursive: true });
    await writeFile(join(toolbox, "package.json"), '{ "private": true }\n');
    const wanted = Object.entries(tools).map(([name, version]) => `${name}@${version}`);
    await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...wanted], { cwd: toolbox });
    /** @type {string[]} */
    const problems = [];
    for (const { name, folder, file } of packed) {
      // The resolution of TypeScript 4 knows no "exports", so it finds only the main entry of a package.
      const profile = ["--profile", dual.includes(folder) ? "node16" : "esm-only"];
      const commands = [
        ["publint", "run", file, "--strict"],
        // ./internal is for our own packages, which are ES modules.
        ["attw", file, ...profile, "--exclude-entrypoints", "./internal"],
      ];
      for (const [tool = "", ...args] of commands) {
        const found = await run(join(toolbox, "node_modules/.bin", tool), args).then(
          () => undefined,
          (error) => `${error.stdout}${error.stderr}`.trim(),
        );
        console.log(`${found === undefined ? "ok  " : "FAIL"} ${tool} ${name}`);
        if (found !== undefined) problems.push(`${tool} of ${name}: ${found}`);
      }
    }
    return problems;
  } finally {
    await rm(toolbox, { recursive: true, force: true });
  }
}
