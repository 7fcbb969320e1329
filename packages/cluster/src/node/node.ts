/**
 * A node agent: registers a node, runs the pods that are assigned to it as processes of this machine, and reports how they are.
 * It only talks to the API, so it works with the sandbox and with a real kube-apiserver.
 */
import { join } from "node:path";
import { onAbort } from "@tenure/base";
import type { KubeClient } from "@tenure/kube";
import { GuardedProcesses } from "@tenure/supervisor/internal";
import { EventRecorder } from "../client/event-recorder.ts";
import { Informer } from "../client/informer.ts";
import { pods, services } from "../client/resources.ts";
import { AgentServer } from "./agent/agent-server.ts";
import { Lookup } from "./container/lookup.ts";
import { DataDirectory } from "./data-directory.ts";
import { chooseIsolation, type IsolationChoice } from "./isolation/choose.ts";
import type { Isolation } from "./isolation/isolation.ts";
import { type NodePlatform, systemNodePlatform } from "./platform.ts";
import { PodManager } from "./pod/pod-manager.ts";
import { capacityOf } from "./register/node-object.ts";
import { Registration } from "./register/registration.ts";

export interface NodeOptions {
  readonly client: KubeClient;
  /** The name of the node. */
  readonly name: string;
  /** Where the node keeps logs and volumes. One folder for each node. */
  readonly dataDirectory: string;
  /** A folder or a command for each image. @default none: programs of the machine */
  readonly images?: Readonly<Record<string, string>> | undefined;
  /** Additional labels of the node. @default none */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** How containers are separated. "auto" takes the best that the machine allows. @default "auto" */
  readonly isolation?: IsolationChoice | undefined;
  /** Ends the node, like `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** What goes wrong and is retried. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly platform?: NodePlatform | undefined;
}

export interface RunningNode {
  readonly name: string;
  /** How containers are separated, and one sentence that says what they share. */
  readonly isolation: Pick<Isolation, "mode" | "shared">;
  /** Resolves when the node is Ready and knows its pods. */
  readonly ready: Promise<void>;
  /** Kills all processes of the node. Its pods stay in the API, and another agent can take them over. */
  stop(): Promise<void>;
}

const address = "127.0.0.1";

/** Resolves when the agent runs. Rejects if the folder or the isolation cannot be used. */
export async function startNode(options: NodeOptions): Promise<RunningNode> {
  const { client, name, images = {}, labels = {}, onError = () => {} } = options;
  const platform = options.platform ?? systemNodePlatform;
  const isolation = await chooseIsolation(options.isolation ?? "auto", platform);
  const processes = new GuardedProcesses({ clock: platform.clock, onError });
  const directory = new DataDirectory(options.dataDirectory);
  await directory.take({ pid: platform.machine.pid, marker: processes.marker }, platform.clock);
  await processes.start();
  const ending = new AbortController();
  const { signal } = ending;
  const informer = { client, platform, onError };
  const podInformer = new Informer({
    ...informer,
    resource: pods,
    query: { fieldSelector: `spec.nodeName=${name}` },
  });
  const serviceInformer = new Informer({ ...informer, resource: services });
  const server = new URL(await client.serverAddress());
  const recorder = new EventRecorder({ client, platform, component: "kubelet", host: name });
  const manager = new PodManager(
    {
      client,
      platform,
      processes,
      isolation,
      recorder,
      images,
      onError,
      nodeName: name,
      hostIP: address,
      lookup: new Lookup(client, platform.clock),
      allocatable: capacityOf(platform.machine),
      dataDirectory: join(options.dataDirectory),
      apiServer: {
        host: server.hostname.replace(/[[\]]/g, ""),
        port: server.port || (server.protocol === "https:" ? "443" : "80"),
      },
      services: () => serviceInformer.list(),
      hostLines: () => [],
    },
    podInformer,
  );
  const agent = new AgentServer({ manager, platform, host: address });
  const port = await agent.listen();
  const facts = { name, address, labels, machine: platform.machine, port, isolation: isolation.shared };
  const registration = new Registration(client, platform, facts, onError);

  const run = async () => {
    const node = await registration.register(signal);
    await agent.publish(client, node);
    void serviceInformer.run(signal);
    await serviceInformer.synced;
    await manager.start(node.spec?.podCIDR ?? "", signal);
    await registration.writeStatus(true);
    void registration.keepAlive(node, signal);
  };
  const ready = run();
  ready.catch(() => {});

  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      ending.abort(new Error("The node agent was stopped."));
      await ready.catch(() => {});
      manager.close();
      await agent.close();
      await processes.close();
      await recorder.flush();
      await registration.writeStatus(false).catch(onError);
    })();
    return stopping;
  };
  if (options.signal?.aborted) await stop();
  else if (options.signal) onAbort(options.signal, () => void stop());
  return { name, isolation, ready, stop };
}
