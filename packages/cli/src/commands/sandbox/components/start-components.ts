/** The cluster in the process of `tenure sandbox --nodes`: controllers, scheduler and nodes beside the API. */
import { runControllers, runScheduler } from "@tenure/cluster";
import { loadConfig } from "@tenure/kube";
import { newClient } from "../../../cluster/connect.ts";
import type { Platform } from "../../../platform.ts";
import { componentIdentity } from "./identity.ts";
import { startNodes } from "./start-nodes.ts";

export interface ComponentsOptions {
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
  { nodes, controllers, scheduler, kubeconfig }: ComponentsOptions,
  platform: Platform,
): Promise<RunningComponents> {
  const config = await loadConfig({ kubeconfig });
  const client = newClient(config, platform, "tenure sandbox");
  const lockClient = newClient(config, platform, "tenure leader-election");
  const stopping = new AbortController();
  const nodesStopping = new AbortController();
  const identity = componentIdentity(platform);
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
    const { stopped } = await startNodes({ count: nodes, kubeconfig, signal: nodesStopping.signal });
    return {
      async stop() {
        // The nodes first: their pods may need the API until they have stopped.
        nodesStopping.abort();
        await stopped;
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
