/** Runs nodes on this machine. Their pods are processes, which never outlive this process. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { onAbort } from "@tenure/base";
import type { KubeClient } from "@tenure/kube";
import { startServices } from "../services/services.ts";
import { openNodeHost } from "./host.ts";
import type { IsolationChoice } from "./isolation/choose.ts";
import type { Isolation } from "./isolation/isolation.ts";
import { type NodeAgent, startAgent } from "./node-agent.ts";
import { type NodePlatform, systemNodePlatform } from "./platform.ts";

interface CommonOptions {
  readonly client: KubeClient;
  /** Where logs and volumes are kept. Only one process can use it at a time. @default a folder that is removed at the end */
  readonly dataDirectory?: string | undefined;
  /** A folder or a command for each image. @default none: programs of the machine */
  readonly images?: Readonly<Record<string, string>> | undefined;
  /** Additional labels of the nodes. @default none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** How containers are separated. "auto" takes the best that the machine allows. @default "auto" */
  readonly isolation?: IsolationChoice | undefined;
  /** Stops the nodes, like `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** What goes wrong and is retried. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly platform?: NodePlatform | undefined;
}

export interface NodeOptions extends CommonOptions {
  /** The name of the node. */
  readonly name: string;
  /** Whether to serve the addresses of services on this machine. Only one process of a machine can. @default false */
  readonly services?: boolean | undefined;
}

export interface NodesOptions extends CommonOptions {
  /** How many nodes. Their names are node-1, node-2, … */
  readonly count: number;
}

export interface RunningNodes {
  /** How containers are separated, and one sentence that says what they share. */
  readonly isolation: Pick<Isolation, "mode" | "shared">;
  /** Resolves when the nodes are Ready and know their pods. */
  readonly ready: Promise<void>;
  /** Resolves when nothing of the nodes runs any more. */
  readonly stopped: Promise<void>;
  /** Kills all processes of the nodes. Their pods stay in the API, and other agents can take them over. */
  stop(): Promise<void>;
}

/** Starts one node. Rejects if the folder or the isolation cannot be used. */
export function startNode({ name, services = false, ...options }: NodeOptions): Promise<RunningNodes> {
  return start([name], options, services);
}

/** Starts nodes and the service proxy of this machine. Rejects if the folder or the isolation cannot be used. */
export function startNodes({ count, ...options }: NodesOptions): Promise<RunningNodes> {
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`);
  return start(names, options, true);
}

async function start(
  names: readonly string[],
  options: CommonOptions,
  withServices: boolean,
): Promise<RunningNodes> {
  const { client, images = {}, labels = {}, onError = () => {}, signal } = options;
  const platform = options.platform ?? systemNodePlatform;
  const { isolation = "auto" } = options;
  const temporary = join(platform.machine.temporaryFolder, "tenure-nodes-");
  const dataDirectory = options.dataDirectory ?? (await mkdtemp(temporary));
  const host = await openNodeHost({
    platform,
    dataDirectory,
    isTemporary: options.dataDirectory === undefined,
    isolation,
    onError,
  });
  const { network } = host.isolation;
  const proxy =
    withServices || network
      ? startServices({ client, platform, onError, network, onMachine: withServices })
      : undefined;
  let agents: NodeAgent[];
  try {
    agents = await Promise.all(
      names.map((name) => startAgent({ client, host, name, images, labels, onError })),
    );
  } catch (error) {
    await proxy?.stop();
    await host.close();
    throw error;
  }
  const ready = Promise.all([proxy?.ready, ...agents.map((agent) => agent.ready)]).then(() => undefined);
  ready.catch(() => {});
  let resolveStopped = () => {};
  const stopped = new Promise<void>((resolve) => {
    resolveStopped = resolve;
  });
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      await Promise.all([proxy?.stop(), ...agents.map((agent) => agent.stop())]);
      await host.close();
      resolveStopped();
    })();
    return stopping;
  };
  if (signal?.aborted) void stop();
  else if (signal) onAbort(signal, () => void stop());
  return { isolation: host.isolation, ready, stopped, stop };
}
