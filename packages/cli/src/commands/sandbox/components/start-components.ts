/** The cluster in the process of `tenure sandbox --nodes`: controllers, scheduler and nodes beside the API. */
import { systemRandom } from "@tenure/base";
import { type NodesOptions, runControllers, runScheduler, startNodes } from "@tenure/cluster";
import { uniqueIdentity } from "@tenure/core";
import { loadConfig } from "@tenure/kube";
import { newClient } from "../../../cluster/connect.ts";
import type { Platform } from "../../../platform.ts";

export interface ComponentsOptions extends Pick<NodesOptions, "images" | "isolation" | "dataDirectory"> {
  readonly nodes: number;
  readonly controllers: boolean;
  readonly scheduler: boolean;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
}

export interface RunningComponents {
  /** Stops nodes, scheduler and controllers, and waits until they have stopped. */
  stop(): Promise<void>;
}

/** Resolves when the nodes are registered. Controllers and scheduler start meanwhile. */
export async function startComponents(
  { nodes, controllers, scheduler, kubeconfig, ...nodeOptions }: ComponentsOptions,
  platform: Platform,
): Promise<RunningComponents> {
  const config = await loadConfig({ kubeconfig });
  const client = newClient(config, platform, "tenure sandbox");
  const lockClient = newClient(config, platform, "tenure leader-election");
  const stopping = new AbortController();
  const identity = uniqueIdentity(platform.hostName(), systemRandom());
  // Errors are not reported: the API is in this process, and everything is retried.
  const options = { client, lockClient, identity, signal: stopping.signal };
  const running = [
    ...(controllers ? [runControllers({ ...options, rootCa: config.ca ?? "" })] : []),
    ...(scheduler ? [runScheduler(options)] : []),
  ];
  const stop = async () => {
    stopping.abort();
    await Promise.allSettled(running);
    client.close();
    lockClient.close();
  };
  try {
    const running = await startNodes({ client, count: nodes, ...nodeOptions });
    await running.ready;
    return {
      async stop() {
        // The nodes first: their pods may need the API until they have stopped.
        await running.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
