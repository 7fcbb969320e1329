/**
 * Services on this machine: a proxy on loopback addresses. The service 10.96.3.4 listens on 127.96.3.4, and sends connections to
 * its ready endpoints. Start one for each machine.
 */
import { connect } from "node:net";
import { onAbort } from "@tenure/base";
import type { KubeClient } from "@tenure/kube";
import { EventRecorder } from "../client/event-recorder.ts";
import { Informer } from "../client/informer.ts";
import { endpointSlices, services } from "../client/resources.ts";
import { clusterAddress, loopbackTwin } from "../node/addresses.ts";
import type { PodNetwork } from "../node/network/pod-network.ts";
import { type Platform, systemPlatform } from "../platform.ts";
import { ConnectionProxy, type Dial } from "./connection-proxy.ts";
import { type Listener, planListeners, type Target } from "./plan.ts";

export interface ServicesOptions {
  readonly client: KubeClient;
  /** Ends the proxy, like `stop`. */
  readonly signal?: AbortSignal | undefined;
  /** The address on which node ports listen. @default "127.0.0.1" */
  readonly nodeAddress?: string | undefined;
  /** The network of the pods, if they have one of their own. */
  readonly network?: PodNetwork | undefined;
  /** Whether the machine reaches the services too. Only one process of a machine can serve them. @default true */
  readonly onMachine?: boolean | undefined;
  /** What goes wrong and is retried. @default ignored */
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly platform?: Platform | undefined;
}

export interface RunningServices {
  /** Resolves when all services that exist are served. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Ports below 1024 need rights that an ordinary user does not have. Their service listens this much higher: 80 on 8080. */
const unprivilegedOffset = 8_000;

interface Open {
  readonly proxy: ConnectionProxy;
  /** Resolves to whether the machine reaches it. Pods with a network of their own reach it in any case. */
  listening: Promise<boolean>;
}

export function startServices(options: ServicesOptions): RunningServices {
  const { client, nodeAddress = "127.0.0.1", onError = () => {}, platform = systemPlatform } = options;
  const { network, onMachine = true } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const serviceInformer = new Informer({ client, platform, resource: services, onError });
  const sliceInformer = new Informer({ client, platform, resource: endpointSlices, onError });
  const recorder = new EventRecorder({ client, platform, component: "service-proxy" });
  const open = new Map<string, Open>();
  let apiServer: Target = { host: "127.0.0.1", port: 443 };

  const tryListen = (proxy: ConnectionProxy, listener: Listener): Promise<boolean> =>
    listen(proxy, listener, (reason, message) => {
      const target = { ...listener.service, apiVersion: "v1", kind: "Service" };
      recorder.record(target, { type: "Warning", reason, message });
    });

  const start = (listener: Listener): Open => {
    const proxy = new ConnectionProxy(platform.clock, network && dialIn(network));
    return { proxy, listening: onMachine ? tryListen(proxy, listener) : Promise.resolve(true) };
  };

  /** Another process may have the address, and may give it up. */
  const retry = (known: Open, listener: Listener) => {
    known.listening = known.listening.then((isHeard) => isHeard || tryListen(known.proxy, listener));
  };

  const reconcile = (): Promise<unknown> => {
    const input = { services: serviceInformer.list(), slices: sliceInformer.list(), apiServer, nodeAddress };
    const wanted = planListeners(input);
    const closing = [...open].filter(([key]) => !wanted.has(key));
    for (const [key] of closing) open.delete(key);
    for (const [key, listener] of wanted) {
      const found = open.get(key);
      if (found) retry(found, listener);
      const known = found ?? start(listener);
      open.set(key, known);
      known.proxy.setTargets(listener.targets, listener.affinityMs);
    }
    return Promise.all([
      network?.serve(placesOf(wanted.values(), nodeAddress)),
      ...closing.map(([, { proxy, listening }]) => listening.then(() => proxy.close())),
      ...[...open.values()].map(({ listening }) => listening),
    ]);
  };

  network?.onConnection(({ host, port, from, socket }) => {
    const found = open.get(`${loopbackTwin(host)}:${port}`);
    if (found) void found.proxy.accept(socket, from);
    else socket.destroy();
  });

  const run = async () => {
    const address = new URL(await client.serverAddress());
    const host = address.hostname.replace(/[[\]]/g, "");
    apiServer = { host, port: Number(address.port || (address.protocol === "https:" ? 443 : 80)) };
    void serviceInformer.run(signal);
    void sliceInformer.run(signal);
    await Promise.all([serviceInformer.synced, sliceInformer.synced]);
    if (signal.aborted) return;
    serviceInformer.onChange(() => void reconcile().catch(onError));
    sliceInformer.onChange(() => void reconcile().catch(onError));
    await reconcile();
  };
  const ready = run();
  ready.catch(onError);

  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= (async () => {
      ending.abort();
      await Promise.all(
        [...open.values()].map(({ proxy, listening }) => listening.then(() => proxy.close())),
      );
      await recorder.flush();
    })();
    return stopping;
  };
  if (options.signal?.aborted) void stop();
  else if (options.signal) onAbort(options.signal, () => void stop());
  return { ready, stop };
}

/** Pods are reached by their own network, and everything else by that of the machine. */
function dialIn(network: PodNetwork): Dial {
  return ({ host, port }) => {
    const podIP = clusterAddress(host);
    return network.has(podIP) ? network.dial(podIP, port) : connect({ host, port, allowHalfOpen: true });
  };
}

/** The addresses of services, as pods know them. Pods do not reach node ports. */
function placesOf(listeners: Iterable<Listener>, nodeAddress: string): [string, number][] {
  return [...listeners]
    .filter(({ host }) => host !== nodeAddress)
    .map(({ host, port }) => [clusterAddress(host), port]);
}

/** Whether it listens. Never rejects: an event says which service cannot be reached, and why. */
async function listen(
  proxy: ConnectionProxy,
  { host, port, name }: Listener,
  report: (reason: string, message: string) => void,
): Promise<boolean> {
  try {
    await proxy.listen(host, port);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EACCES" && port < 1024) {
      const other = port + unprivilegedOffset;
      try {
        await proxy.listen(host, other);
        report("OtherPort", `Only root may listen on port ${port}. ${name} is at ${host}:${other}.`);
        return true;
      } catch {
        // The first reason is the one that helps.
      }
    }
    const advice =
      code === "EADDRNOTAVAIL"
        ? ` Add the address to the loopback interface: ifconfig lo0 alias ${host}`
        : "";
    report("CannotListen", `Cannot listen on ${host}:${port} for ${name}: ${message}.${advice}`);
    return false;
  }
}
