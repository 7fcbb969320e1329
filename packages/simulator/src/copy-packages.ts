/**
 * Copies the built packages, and plants a bug into the copy. In the copy, a package loads its separate modules instead of its
 * bundle. Module hooks would change modules too, but with them every dynamic import of the client takes real time.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bug } from "./bug.ts";
import { bugs } from "./bugs.ts";
import { bugsInShards } from "./shards/bugs-in-shards.ts";
import { bugsInSupervisor } from "./supervisor/bugs-in-supervisor.ts";

export const packages = fileURLToPath(new URL("../../", import.meta.url));
/** Below node_modules of the repository, so that the copy finds its dependencies. */
const copies = join(packages, "../node_modules/.cache/tenure-simulator");
const copied = ["base", "core", "kube", "election", "etcd", "postgres", "supervisor", "simulator"];
export const allBugs = { ...bugs, ...bugsInSupervisor, ...bugsInShards };

interface Copy {
  /** The folder with a folder for each package. */
  readonly folder: string;
  remove(): void;
}

/** @param bug the name of the bug to plant; undefined for none */
export function copyPackages(name: string, bug: string | undefined): Copy {
  const folder = join(copies, name, "node_modules/@tenure");
  rmSync(join(copies, name), { recursive: true, force: true });
  for (const packageName of copied) {
    const target = join(folder, packageName);
    mkdirSync(target, { recursive: true });
    cpSync(join(packages, packageName, "dist"), join(target, "dist"), { recursive: true });
    const manifest = readFileSync(join(packages, packageName, "package.json"), "utf8");
    writeFileSync(join(target, "package.json"), manifest.replaceAll("./bundle/", "./dist/"));
  }
  for (const edit of allBugs[bug ?? ""]?.edits ?? []) {
    const path = builtFile(folder, edit.file);
    writeFileSync(path, plant(readFileSync(path, "utf8"), edit));
  }
  return { folder, remove: () => rmSync(join(copies, name), { recursive: true, force: true }) };
}

/** @param file starts with the name of the package */
export function builtFile(folder: string, file: string): string {
  const [packageName = "", ...rest] = file.split("/");
  return join(folder, packageName, "dist", ...rest);
}

/** Throws if the code has changed: otherwise the bug would silently be missing. */
export function plant(text: string, { file, find, replace }: Bug["edits"][number]): string {
  if (text.split(find).length !== 2)
    throw new Error(`Cannot plant a bug: ${file} must contain this text exactly once: ${find}`);
  return text.replace(find, () => replace);
}

/** The built files of a package, by path from the folder of all packages. */
export function builtFiles(packageName: string): readonly { readonly file: string; readonly text: string }[] {
  const dist = join(packages, packageName, "dist");
  return readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js"))
    .map((path) => ({ file: `${packageName}/${path}`, text: readFileSync(join(dist, path), "utf8") }));
}
