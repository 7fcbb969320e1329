/**
 * Whether a command can be run, as far as that can be known before: a replica that could never do the work must not stand for
 * election. It does not see what the system finds out only when it starts it, such as a script whose interpreter is missing.
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { CliError } from "../../errors.ts";

/** Where programs are looked for when PATH is not set. */
const standardPath = "/usr/local/bin:/usr/bin:/bin";

export async function checkExecutable(
  command: string,
  { path, cwd = "." }: { readonly path?: string | undefined; readonly cwd?: string | undefined },
): Promise<void> {
  if ((await kind(cwd)) !== "directory") {
    throw new CliError("USAGE", `Cannot run ${command} in ${cwd}: there is no such directory, see --cwd`);
  }
  const isPath = command.includes("/");
  const folders = isPath ? [""] : (path ?? standardPath).split(delimiter);
  const found = await Promise.all(folders.map((folder) => kind(resolve(cwd, folder, command))));
  if (found.includes("executable")) return;
  // In PATH a directory or a plain file of that name is passed over; named by its path it is what was meant.
  const there = isPath ? found[0] : found.find((what) => what === "file");
  if (there === undefined) {
    const where = isPath ? "there is no such file" : "there is no program of that name in PATH";
    throw new CliError("NOT_FOUND", `Cannot run ${command}: ${where}`);
  }
  const why =
    there === "directory" ? "it is a directory" : `it is not executable; chmod +x ${command} makes it so`;
  throw new CliError("NOT_EXECUTABLE", `Cannot run ${command}: ${why}`);
}

async function kind(file: string): Promise<"executable" | "file" | "directory" | undefined> {
  try {
    if ((await stat(file)).isDirectory()) return "directory";
  } catch {
    return undefined;
  }
  return access(file, constants.X_OK).then(
    () => "executable",
    () => "file",
  );
}
