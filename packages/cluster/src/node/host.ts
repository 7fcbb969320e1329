/** What all node agents of one process share: the watchdog over their processes, the isolation, and the data folder. */
import { GuardedProcesses } from "@tenure/supervisor/internal";
import { DataDirectory } from "./data-directory.ts";
import { chooseIsolation, type IsolationChoice } from "./isolation/choose.ts";
import type { Isolation } from "./isolation/isolation.ts";
import type { NodePlatform } from "./platform.ts";

export interface NodeHost {
  readonly platform: NodePlatform;
  readonly processes: GuardedProcesses;
  readonly isolation: Isolation;
  readonly dataDirectory: string;
  /** Kills all processes. */
  close(): Promise<void>;
}

export interface NodeHostOptions {
  readonly platform: NodePlatform;
  readonly dataDirectory: string;
  readonly isolation: IsolationChoice;
  readonly onError: (error: unknown) => void;
}

/** Kills what an earlier process left in the data folder. Rejects if the folder or the isolation cannot be used. */
export async function openNodeHost(options: NodeHostOptions): Promise<NodeHost> {
  const { platform, dataDirectory, onError } = options;
  const isolation = await chooseIsolation(options.isolation, platform);
  const processes = new GuardedProcesses({ clock: platform.clock, onError });
  const owner = { pid: platform.machine.pid, marker: processes.marker };
  await new DataDirectory(dataDirectory).take(owner, platform.clock);
  await processes.start();
  return { platform, processes, isolation, dataDirectory, close: () => processes.close() };
}
