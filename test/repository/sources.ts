/** The files of the repository, for the tests that check its rules. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface SourceFile {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Every file that git tracks or would track, so that a new file is checked before it is committed. */
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 64 * 1024 * 1024,
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));

export function filesMatching(pattern: RegExp): SourceFile[] {
  return tracked
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.split("/").includes("testing");
}

/** The code without its comments. */
export function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

/** The comments without the code. */
export function commentsOf(text: string): string {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm)].map(([comment]) => comment).join("\n");
}

/** The files that a file imports by a relative path. */
export function relativeImportsOf({ path, text }: SourceFile): string[] {
  return [...codeOf(text).matchAll(/(?:from|import) "(\.[^"]+)"/g)].map(([, target]) =>
    normalize(join(dirname(path), target as string)),
  );
}

/** The names that a module exports from other modules: `export { a, type B } from "./x.ts"`. */
export function exportedNames(text: string): { readonly name: string; readonly isType: boolean }[] {
  return [...codeOf(text).matchAll(/export (type )?\{([^}]*)\}/g)].flatMap(([, allTypes, names = ""]) =>
    names
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
      .map((entry) => ({
        name: entry.replace(/^type /, "").replace(/^.* as /, ""),
        isType: allTypes !== undefined || entry.startsWith("type "),
      })),
  );
}
