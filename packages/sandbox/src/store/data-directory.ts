/**
 * Makes a data directory private: it holds the private key of the CA and the administrator token. LevelDB creates its
 * files readable for everybody, so the mode of the directory is what protects them.
 */
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { SandboxError } from "../errors.ts";

const directoryMode = 0o700;
const fileMode = 0o600;
/** The permissions of the group and of others. */
const foreignBits = 0o077;

export async function makePrivate(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: directoryMode });
  const { mode } = await stat(dataDir);
  const files = await readdir(dataDir);
  if ((mode & foreignBits) !== 0) {
    // CURRENT is in every directory of LevelDB. Another directory has another purpose, and its mode is not ours.
    if (files.length > 0 && !files.includes("CURRENT")) {
      throw new SandboxError(
        "DATA_DIR",
        `Cannot use the data directory ${dataDir} as other users can read it (mode ${octal(mode)}) and it holds other files: choose an empty directory, or run chmod 700 ${dataDir}`,
      );
    }
    await chmod(dataDir, directoryMode);
  }
  await Promise.all(files.map((name) => chmod(join(dataDir, name), fileMode)));
}

const octal = (mode: number) => (mode & 0o777).toString(8);
