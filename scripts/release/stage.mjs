// @ts-check
/**
 * Copies each package that is published into a folder of its own, with exactly the files and the manifest that users get, and packs it.
 * The tests of the packages use the same tarballs as a release.
 */
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { keywordsOf, publicPackages } from "./packages.mjs";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * @typedef {object} Packed
 * @property {string} folder the folder in packages
 * @property {string} name
 * @property {string} version
 * @property {string} file path of the tarball
 * @property {number} packedBytes
 * @property {number} unpackedBytes
 * @property {readonly string[]} files
 */

/**
 * @param {string} into an empty folder
 * @param {{ only?: readonly string[], repository?: string | undefined }} [options] `repository` is the address of the repository
 * @returns {Promise<Packed[]>}
 */
export async function packPackages(into, { only = Object.keys(publicPackages), repository } = {}) {
  await mkdir(join(into, "tarballs"), { recursive: true });
  /** @type {Packed[]} */
  const packed = [];
  for (const folder of only) packed.push(await pack(folder, into, repository));
  return packed;
}

/** @param {string} folder @param {string} into @param {string | undefined} repository @returns {Promise<Packed>} */
async function pack(folder, into, repository) {
  const source = join(root, "packages", folder);
  const staged = join(into, "staged", folder);
  const manifest = JSON.parse(await readFile(join(source, "package.json"), "utf8"));
  await mkdir(staged, { recursive: true });
  for (const part of await partsOf(folder, source))
    await cp(join(source, part), join(staged, part), {
      recursive: true,
      filter: (path) => isPublished(folder, path),
    });
  await copyFile(join(root, "LICENSE"), join(staged, "LICENSE"));
  if (!(await exists(join(staged, "README.md"))))
    await writeFile(
      join(staged, "README.md"),
      `# ${manifest.name}\n\n${manifest.description}\n\nPart of tenure.\n`,
    );
  const man = folder === "cli" ? (await readdir(join(source, "man"))).map((file) => `./man/${file}`) : [];
  await writeFile(
    join(staged, "package.json"),
    `${JSON.stringify(publishedManifest(folder, manifest, man, repository), undefined, 2)}\n`,
  );
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--json", "--ignore-scripts", "--pack-destination", join(into, "tarballs")],
    { cwd: staged },
  );
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout);
  return {
    folder,
    name: manifest.name,
    version: manifest.version,
    file: join(into, "tarballs", filename),
    packedBytes: size,
    unpackedBytes: unpackedSize,
    files: files.map((/** @type {{ path: string }} */ { path }) => path),
  };
}

/** @param {string} path */
const exists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** @param {string} folder @param {string} source */
async function partsOf(folder, source) {
  const wanted = folder === "cli" ? ["bin", "bundle", "dist", "man"] : ["bundle", "dist", "gen"];
  const parts = [...wanted, ...(publicPackages[folder]?.hasDist ? ["src"] : []), "README.md"];
  const present = await Promise.all(parts.map((part) => exists(join(source, part))));
  if (!present[parts.indexOf("dist")]) throw new Error(`packages/${folder} is not built: run npm run build`);
  return parts.filter((_, index) => present[index]);
}

/**
 * One form of the code: where there is a bundle, dist has only the types. Bundles have the sources in their source maps; the others
 * need src for that.
 * @param {string} folder @param {string} path
 */
function isPublished(folder, path) {
  if (/\.tsbuildinfo$|\.test\.ts$|\/testing(\/|$)/.test(path)) return false;
  if (publicPackages[folder]?.hasDist || !/\/dist\/.*\.[^/]+$/.test(path)) return true;
  return path.endsWith(".d.ts");
}

/** @param {string} folder @param {any} manifest @param {readonly string[]} man @param {string | undefined} repository */
function publishedManifest(folder, manifest, man, repository) {
  const {
    name,
    version,
    description,
    license,
    scripts: _scripts,
    devDependencies: _dev,
    files: _files,
    ...rest
  } = manifest;
  const { programs } = publicPackages[folder] ?? {};
  return {
    name,
    version,
    description,
    license,
    keywords: keywordsOf(folder),
    ...(repository && {
      homepage: `${repository}#readme`,
      bugs: `${repository}/issues`,
      repository: { type: "git", url: `git+${repository}.git`, directory: `packages/${folder}` },
    }),
    ...rest,
    sideEffects: programs ?? false,
    ...(man.length > 0 && { man }),
    publishConfig: { access: "public", provenance: true },
  };
}
