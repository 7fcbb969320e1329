/** A status server of an election that does as the test says. For tests. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { ScriptedElection } from "@tenure/testkit";
import { type StatusServer, type StatusServerOptions, startStatusServer } from "../server.ts";

export class StatusRig {
  /** Its time stands still, so that the time left of a term is exact. */
  readonly election = new ScriptedElection({ clock: new VirtualClock() });
  /** How often somebody stepped down. */
  stepped = 0;
  server: StatusServer | undefined;
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<StatusRig> {
    return new StatusRig(await mkdtemp(join(tmpdir(), "tenure-status-")));
  }

  /** On a free port, unless the options say otherwise; resolves with where. */
  async start(options: Partial<StatusServerOptions> = {}): Promise<string> {
    this.server = await startStatusServer({
      listen: "127.0.0.1:0",
      source: { election: this.election, stepDown: () => void this.stepped++ },
      ...options,
    });
    return this.server.address;
  }

  async end(): Promise<void> {
    await this.server?.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
