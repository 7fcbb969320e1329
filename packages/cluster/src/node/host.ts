/** What all node agents of one process share: the watchdog over their processes, the isolation, and the data folder. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@tenure/base";
import { GuardedProcesses } from "@tenure/supervisor/internal";
import { DataDirectory } from "./data-directory.ts";
import { chooseIsolation, type IsolationChoice } from "./isolation/choose.ts";
import type { Isolation } from "./isolation/isolation.ts";
import { networkIsolation } from "./isolation/namespaces.ts";
import { PodNetwork } from "./network/pod-network.ts";
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
  /** Whether the folder is removed at the end, also if this process is killed. */
  readonly isTemporary: boolean;
  readonly isolation: IsolationChoice;
  readonly onError: (error: unknown) => void;
}

/** Kills what an earlier process left in the data folder. Rejects if the folder or the isolation cannot be used. */
export async function openNodeHost(options: NodeHostOptions): Promise<NodeHost> {
  const { platform, dataDirectory, isTemporary, onError } = options;
  const isolation = await chooseIsolation(options.isolation, platform);
  const processes = new GuardedProcesses({
    clock: platform.clock,
    onError,
    temporaryFolder: isTemporary ? dataDirectory : undefined,
  });
  const owner = { pid: platform.machine.pid, marker: processes.marker };
  await new DataDirectory(dataDirectory).take(owner, platform.clock);
  await processes.start();
  const network =
    options.isolation === "network"
      ? await openNetwork(processes, platform, dataDirectory, onError)
      : undefined;
  return {
    platform,
    processes,
    isolation: network ? networkIsolation(network) : isolation,
    dataDirectory,
    async close() {
      await network?.close();
      await processes.close();
      // A pod that was being prepared may still write into its folder.
      if (isTemporary) await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openNetwork(
  processes: GuardedProcesses,
  platform: NodePlatform,
  dataDirectory: string,
  onError: (error: unknown) => void,
): Promise<PodNetwork> {
  try {
    return await PodNetwork.open({ processes, platform, folder: join(dataDirectory, "network"), onError });
  } catch (error) {
    await processes.close();
    throw new Error(
      `${messageOf(error)}. Install the program ip (package iproute2), or choose isolation "mounts".`,
      { cause: error },
    );
  }
}
