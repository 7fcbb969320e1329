/**
 * One node agent: registers a node, runs the pods that are assigned to it as processes of this machine, and reports how they are.
 * It only talks to the API, so it works with the sandbox and with a real kube-apiserver.
 */
import { join } from "node:path";
import { within } from "@tenure/base";
import type { KubeClient } from "@tenure/kube";
import { EventRecorder } from "../client/event-recorder.ts";
import { Informer } from "../client/informer.ts";
import { endpointSlices, pods, services } from "../client/resources.ts";
import { hostLines } from "../services/host-lines.ts";
import { AgentServer } from "./agent/agent-server.ts";
import { Lookup } from "./container/lookup.ts";
import type { NodeHost } from "./host.ts";
import { PodManager } from "./pod/pod-manager.ts";
import { capacityOf } from "./register/node-object.ts";
import { Registration } from "./register/registration.ts";

export interface AgentOptions {
  readonly client: KubeClient;
  readonly host: NodeHost;
  readonly name: string;
  readonly images: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly onError: (error: unknown) => void;
}

export interface NodeAgent {
  /** Resolves when the node is Ready and knows its pods. */
  readonly ready: Promise<void>;
  /** Stops the agent. The processes of its pods are not its own to stop. */
  stop(): Promise<void>;
}

/** An API server that does not answer must not keep the agent from ending. */
const farewellMs = 2_000;

export async function startAgent({
  client,
  host,
  name,
  images,
  labels,
  onError,
}: AgentOptions): Promise<NodeAgent> {
  const { platform, processes, isolation, dataDirectory } = host;
  const ending = new AbortController();
  const { signal } = ending;
  const informer = { client, platform, onError };
  const podQuery = { fieldSelector: `spec.nodeName=${name}` };
  const podInformer = new Informer({ ...informer, resource: pods, query: podQuery });
  const serviceInformer = new Informer({ ...informer, resource: services });
  const sliceInformer = new Informer({ ...informer, resource: endpointSlices });
  const recorder = new EventRecorder({ client, platform, component: "kubelet", host: name });
  const addressInPod = (address: string) => isolation.addressInPod(address);
  const server = new URL(await client.serverAddress());
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
      lookup: new Lookup(client, platform.clock),
      allocatable: capacityOf(platform.machine),
      dataDirectory: join(dataDirectory, name),
      apiServer: () => {
        // Pods with a network of their own reach only services.
        const service = isolation.network && serviceInformer.get("default", "kubernetes")?.spec;
        const [port] = service?.ports ?? [];
        if (service?.clusterIP && port) return { host: service.clusterIP, port: String(port.port) };
        return {
          host: server.hostname.replace(/[[\]]/g, ""),
          port: server.port || (server.protocol === "https:" ? "443" : "80"),
        };
      },
      services: () => serviceInformer.list(),
      hostLines: (namespace) =>
        hostLines(namespace, serviceInformer.list(), sliceInformer.list(), addressInPod),
    },
    podInformer,
  );
  const agent = new AgentServer({ manager, platform });
  const facts = { name, labels, machine: platform.machine, isolation: isolation.shared };
  const registration = new Registration({
    client,
    platform,
    facts,
    onError,
    claim: (network) => agent.claim(network),
  });

  const run = async () => {
    const node = await registration.register(signal);
    await agent.publish(client, node);
    void serviceInformer.run(signal);
    void sliceInformer.run(signal);
    await Promise.all([serviceInformer.synced, sliceInformer.synced]);
    await manager.start(node.spec?.podCIDR ?? "", registration.address, signal);
    await registration.writeStatus(true);
    void registration.keepAlive(node, signal);
  };
  const ready = run();
  ready.catch(() => {});
  return {
    ready,
    async stop() {
      ending.abort(new Error("The node agent was stopped."));
      manager.close();
      await agent.close();
      const farewell = registration.writeStatus(false).then(() => recorder.flush());
      await within(platform.clock, farewellMs, farewell).catch(onError);
    },
  };
}
