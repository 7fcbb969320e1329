/**
 * Copies the built packages, and plants a bug into the copy. In the copy, a package loads its separate modules instead of its
 * bundle. Module hooks would change modules too, but with them every dynamic import of the client takes real time.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bugs } from "./bugs.ts";
import { bugsInSupervisor } from "./supervisor/bugs-in-supervisor.ts";

const packages = fileURLToPath(new URL("../../", import.meta.url));
/** Below node_modules of the repository, so that the copy finds its dependencies. */
const copies = join(packages, "../node_modules/.cache/tenure-simulator");
const copied = ["base", "core", "kube", "election", "etcd", "postgres", "supervisor", "simulator"];
const allBugs = { ...bugs, ...bugsInSupervisor };

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
  for (const { file, find, replace } of allBugs[bug ?? ""]?.edits ?? []) {
    const [packageName = "", ...rest] = file.split("/");
    const path = join(folder, packageName, "dist", ...rest);
    const text = readFileSync(path, "utf8");
    // If the code has changed, fail. Otherwise the bug would silently be missing.
    if (text.split(find).length !== 2)
      throw new Error(`Cannot plant ${bug}: ${file} must contain this text exactly once: ${find}`);
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
  }
  return { folder, remove: () => rmSync(join(copies, name), { recursive: true, force: true }) };
}

/** The built files of a package, by path from the folder of all packages. */
export function builtFiles(packageName: string): readonly { readonly file: string; readonly text: string }[] {
  const dist = join(packages, packageName, "dist");
  return readdirSync(dist, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js"))
    .map((path) => ({ file: `${packageName}/${path}`, text: readFileSync(join(dist, path), "utf8") }));
}
