// @ts-check
/**
 * Sets the wall clock of one replica while it runs, with libfaketime: the library reads an offset from a file whenever the
 * process reads the time. The monotonic clock does not change, as when somebody sets the clock of a machine.
 */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileName = "libfaketimeMT.so.1";
export const howToGetFaketime = "libfaketime is not installed (Debian and Ubuntu: apt-get install faketime)";

/** @returns {string | undefined} the path of the library, if a known directory has it */
export function findFaketime() {
  if (process.platform !== "linux") return undefined;
  const roots = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
  const architectures = existsSync("/usr/lib")
    ? readdirSync("/usr/lib").filter((name) => /-linux-(gnu|musl)/.test(name))
    : [];
  const folders = [...architectures.map((name) => join("/usr/lib", name)), ...roots];
  return folders.map((folder) => join(folder, "faketime", fileName)).find((path) => existsSync(path));
}

export class FakeClock {
  #file;
  #library;

  /** @param {string} library @param {string} file the file with the offset */
  constructor(library, file) {
    this.#library = library;
    this.#file = file;
    this.set(0);
  }

  /** The environment of a process that uses this clock. */
  get env() {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** Removes the shared memory that the library leaves behind when its process is killed. @param {number} pid */
  removeSharedMemory(pid) {
    for (const name of [`faketime_shm_${pid}`, `sem.faketime_sem_${pid}`])
      rmSync(join("/dev/shm", name), { force: true });
  }

  /** @param {number} offsetMs from the true time */
  set(offsetMs) {
    const seconds = (offsetMs / 1_000).toFixed(3);
    const next = `${this.#file}.next`;
    writeFileSync(next, offsetMs < 0 ? seconds : `+${seconds}`);
    // Atomic, because the process may read the file at any moment.
    renameSync(next, this.#file);
  }
}
