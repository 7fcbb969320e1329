/** For tests: a status server of a scripted election. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { ScriptedElection } from "@tenure/testkit";
import { type StatusServer, type StatusServerOptions, startStatusServer } from "../server.ts";

export class TestStatusServer {
  /** Its time does not move, so the remaining time of a term is exact. */
  readonly election = new ScriptedElection({ clock: new VirtualClock() });
  /** The number of step-downs. */
  stepDowns = 0;
  server: StatusServer | undefined;
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<TestStatusServer> {
    return new TestStatusServer(await mkdtemp(join(tmpdir(), "tenure-status-")));
  }

  /** Resolves with the address. @param options by default a free port */
  async start(options: Partial<StatusServerOptions> = {}): Promise<string> {
    this.server = await startStatusServer({
      listen: "127.0.0.1:0",
      source: { election: this.election, stepDown: () => void this.stepDowns++ },
      ...options,
    });
    return this.server.address;
  }

  async close(): Promise<void> {
    await this.server?.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
