/**
 * Files that change all at once, as the kubelet writes them: every name is a link through `..data`, which a rename exchanges. A
 * reader sees all files of one version, never a mixture.
 */
import { lstat, mkdir, mkdtemp, readdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, normalize } from "node:path";

export interface FileContent {
  readonly data: Buffer;
  readonly mode: number;
}

/** The files of a volume, by their path in it. */
export type Files = ReadonlyMap<string, FileContent>;

const current = "..data";
const next = "..data_tmp";

export async function writeAtomically(folder: string, files: Files): Promise<void> {
  for (const path of files.keys()) checkPath(path);
  await mkdir(folder, { recursive: true });
  const before = await readlink(join(folder, current)).catch(() => undefined);
  const version = await mkdtemp(join(folder, "..version-"));
  await allow(version);
  for (const [path, { data, mode }] of files) {
    await mkdir(join(version, dirname(path)), { recursive: true });
    await writeFile(join(version, path), data, { mode });
  }
  await rm(join(folder, next), { force: true });
  await symlink(basename(version), join(folder, next));
  await rename(join(folder, next), join(folder, current));
  await linkNames(folder, new Set([...files.keys()].map((path) => path.split("/")[0] as string)));
  if (before !== undefined) await rm(join(folder, before), { recursive: true, force: true });
}

/** mkdtemp lets nobody else in, but a container may run as another user. */
async function allow(folder: string): Promise<void> {
  const { chmod } = await import("node:fs/promises");
  await chmod(folder, 0o755);
}

async function linkNames(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  const present = (await readdir(folder)).filter((name) => !name.startsWith(".."));
  for (const name of present) {
    const isLink = (await lstat(join(folder, name))).isSymbolicLink();
    if (isLink && !wanted.has(name)) await rm(join(folder, name));
  }
  for (const name of wanted)
    if (!present.includes(name)) await symlink(join(current, name), join(folder, name));
}

function checkPath(path: string): void {
  const clean = normalize(path);
  if (path === "" || clean.startsWith("/") || clean.split("/").includes("..") || clean.startsWith(".."))
    throw new Error(`the path ${JSON.stringify(path)} must be relative and stay in its volume`);
}
