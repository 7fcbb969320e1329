/** The data folder of node agents. It remembers which processes belong to them, for the agents that come after them. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@tenure/base";
import { killLeftProcesses, processStart } from "@tenure/supervisor/internal";

interface Owner {
  readonly pid: number;
  readonly started: number | undefined;
  readonly marker: string;
}

export class DataDirectory {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Takes over the folder. Kills what an earlier agent left, and removes its pods' files: their processes are gone.
   * Rejects if another agent uses the folder.
   */
  async take(own: { readonly pid: number; readonly marker: string }, clock: Clock): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const before = await this.#owner();
    const isAlive = before && processStart(before.pid) === before.started && before.started !== undefined;
    if (before && isAlive && before.pid !== own.pid) {
      throw new Error(
        `Cannot start the node agent: process ${before.pid} uses the folder ${this.path}. Stop it, or choose another folder.`,
      );
    }
    if (before && before.marker !== own.marker) await killLeftProcesses(before.marker, clock);
    for (const entry of await readdir(this.path, { withFileTypes: true })) {
      if (entry.isDirectory())
        await rm(join(this.path, entry.name, "pods"), { recursive: true, force: true });
    }
    const owner: Owner = { pid: own.pid, started: processStart(own.pid), marker: own.marker };
    await writeFile(join(this.path, "owner.json"), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  }

  async #owner(): Promise<Owner | undefined> {
    try {
      return JSON.parse(await readFile(join(this.path, "owner.json"), "utf8")) as Owner;
    } catch {
      return undefined;
    }
  }
}
