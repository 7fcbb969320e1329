/**
 * Checks before the election that the command can be run, because a replica that cannot do the work must not become leader.
 * It does not find what only starting the command would show, such as a script whose interpreter is missing.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { CliError } from "../../errors.ts";

/** The search path if PATH is not set. */
const standardPath = "/usr/local/bin:/usr/bin:/bin";

export function checkExecutable(
  command: string,
  { path, cwd = "." }: { readonly path?: string | undefined; readonly cwd?: string | undefined },
): void {
  if (kind(cwd) !== "directory") {
    throw new CliError(
      "Usage",
      `Cannot run ${command} in ${cwd}: the directory does not exist; correct --cwd`,
    );
  }
  const isPath = command.includes("/");
  const folders = isPath ? [""] : (path ?? standardPath).split(delimiter);
  const found = folders.map((folder) => kind(resolve(cwd, folder, command)));
  if (found.includes("executable")) return;
  // A search in PATH skips directories and files that are not executable. A path names exactly one file.
  const there = isPath ? found[0] : found.find((what) => what === "file");
  if (there === undefined) {
    const where = isPath ? "the file does not exist" : "no directory in PATH has a program of this name";
    throw new CliError("NotFound", `Cannot run ${command}: ${where}`);
  }
  const why = there === "directory" ? "it is a directory" : `it is not executable; run chmod +x ${command}`;
  throw new CliError("NotExecutable", `Cannot run ${command}: ${why}`);
}

function kind(file: string): "executable" | "file" | "directory" | undefined {
  try {
    if (statSync(file).isDirectory()) return "directory";
  } catch {
    return undefined;
  }
  try {
    accessSync(file, constants.X_OK);
    return "executable";
  } catch {
    return "file";
  }
}
