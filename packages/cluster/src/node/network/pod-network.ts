/**
 * A network for pods. Each pod has its own addresses and ports, pods reach each other and the services, and nothing else: not the
 * machine, not the internet. The machine reaches pods through this class, and at the loopback twins of their addresses.
 */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { first } from "@tenure/base";
import type { GuardedProcess, GuardedProcesses } from "@tenure/supervisor/internal";
import { loopbackTwin } from "../addresses.ts";
import type { NodePlatform } from "../platform.ts";
import { ask, readLine } from "./line-socket.ts";
import { routerProgram } from "./router-program.ts";
import { linkOf, podScript, routerScript } from "./scripts.ts";

/** A connection of a pod to a service. */
export interface ServiceConnection {
  readonly host: string;
  readonly port: number;
  /** The address of the pod. */
  readonly from: string;
  readonly socket: Socket;
}

interface Options {
  readonly processes: GuardedProcesses;
  readonly platform: NodePlatform;
  /** Where the sockets go, if the path is short enough. */
  readonly folder: string;
  /** The router ended by itself. */
  readonly onError: (error: Error) => void;
}

/** A busy machine may take its time, but not for ever. */
const setUpMs = 15_000;
/** The longest path of a Unix socket has 107 bytes. */
const longestFolder = 90;

export class PodNetwork {
  readonly #processes: GuardedProcesses;
  readonly #platform: NodePlatform;
  readonly #folder: string;
  readonly #router: GuardedProcess;
  readonly #agent: Server;
  readonly #pods = new Map<string, GuardedProcess>();
  /** The listeners of the machine for each pod, by the port of the pod. */
  readonly #twins = new Map<string, Map<number, Server>>();
  #isClosed = false;
  #onConnection: (connection: ServiceConnection) => void = ({ socket }) => socket.destroy();

  private constructor(options: Options, folder: string, router: GuardedProcess, agent: Server) {
    this.#processes = options.processes;
    this.#platform = options.platform;
    this.#folder = folder;
    this.#router = router;
    this.#agent = agent;
  }

  /** Rejects if the machine does not allow it. */
  static async open(options: Options): Promise<PodNetwork> {
    const { processes, platform } = options;
    const folder =
      options.folder.length <= longestFolder
        ? options.folder
        : await mkdtemp(join(platform.machine.temporaryFolder, "tenure-network-"));
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    // The sockets lead to the pods and to the API.
    await chmod(folder, 0o700);
    let network: PodNetwork | undefined;
    const agent = createServer({ allowHalfOpen: true }, (socket) => void network?.accept(socket));
    await new Promise<void>((resolve, reject) => {
      agent.once("error", reject).listen(join(folder, "agent.sock"), resolve);
    });
    agent.unref();
    const flags = ["--user", "--map-root-user", "--net", "--"];
    const script = ["/bin/sh", "-c", routerScript, "sh", routerProgram, folder, platform.nodeProgram];
    try {
      const router = await untilReady(processes, platform, "unshare", [...flags, ...script]);
      const opened = new PodNetwork(options, folder, router, agent);
      network = opened;
      void router.gone.then(() => {
        if (!opened.#isClosed)
          options.onError(new Error("The router of the pods' network ended. Start the node again."));
      });
      return opened;
    } catch (error) {
      agent.close();
      throw error;
    }
  }

  /** How a process joins the network of a pod: the arguments of nsenter. */
  joinFlags(podIP: string): string[] {
    const holder = this.#pods.get(podIP);
    if (!holder) throw new Error(`The pod ${podIP} has no network.`);
    return ["--target", String(holder.pid), "--user", "--preserve-credentials", "--net"];
  }

  /** Gives a pod its network. @param ports what the machine reaches at the twin of its address */
  async add(podIP: string, ports: readonly number[]): Promise<void> {
    if (!this.#pods.has(podIP)) {
      const router = String(this.#router.pid);
      const join = [
        "--target",
        router,
        "--user",
        "--preserve-credentials",
        "--net",
        "--",
        "unshare",
        "--net",
      ];
      const script = ["--", "/bin/sh", "-c", podScript, "sh", router, linkOf(podIP), podIP];
      this.#pods.set(
        podIP,
        await untilReady(this.#processes, this.#platform, "nsenter", [...join, ...script]),
      );
    }
    const twins = this.#twins.get(podIP) ?? new Map<number, Server>();
    this.#twins.set(podIP, twins);
    for (const port of ports) if (!twins.has(port)) twins.set(port, await this.#openTwin(podIP, port));
  }

  /** Where the machine reaches a port of a pod: the same port at the twin of its address, unless only root may use it. */
  portOnMachine(podIP: string, port: number): number {
    const address = this.#twins.get(podIP)?.get(port)?.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  async remove(podIP: string): Promise<void> {
    for (const server of this.#twins.get(podIP)?.values() ?? []) server.close();
    this.#twins.delete(podIP);
    const holder = this.#pods.get(podIP);
    this.#pods.delete(podIP);
    // The link is gone with the last process in its network.
    holder?.stop(0);
    await holder?.gone;
  }

  has(podIP: string): boolean {
    return this.#pods.has(podIP);
  }

  /** Connects to a port of a pod. Rejects if nothing listens there. */
  async dial(podIP: string, port: number): Promise<Socket> {
    const { answer, socket } = await ask(join(this.#folder, "router.sock"), { dial: [podIP, port] });
    if (answer === "ok") return socket;
    socket.destroy();
    throw new Error(answer);
  }

  /** From now on pods can connect to these addresses of services. */
  async serve(places: readonly (readonly [string, number])[]): Promise<void> {
    const { socket } = await ask(join(this.#folder, "router.sock"), { listen: places });
    socket.destroy();
  }

  onConnection(handle: (connection: ServiceConnection) => void): void {
    this.#onConnection = handle;
  }

  async accept(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    try {
      const { service, from } = JSON.parse(await readLine(socket)) as {
        service: [string, number];
        from: string;
      };
      this.#onConnection({ host: service[0], port: service[1], from, socket });
    } catch {
      socket.destroy();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#agent.close();
    for (const twins of this.#twins.values()) for (const server of twins.values()) server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #openTwin(podIP: string, port: number): Promise<Server> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, async (client) => {
      client.on("error", () => {});
      try {
        const pod = await this.dial(podIP, port);
        client.pipe(pod);
        pod.pipe(client);
        client.once("close", () => pod.destroy());
        pod.on("error", () => {}).once("close", () => client.destroy());
      } catch {
        client.resetAndDestroy();
      }
    });
    server.unref();
    const host = loopbackTwin(podIP);
    await listen(server, port, host).catch(() => listen(server, 0, host));
    return server;
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Starts a program that prints "ready". Rejects with what it prints otherwise. */
async function untilReady(
  processes: GuardedProcesses,
  platform: NodePlatform,
  command: string,
  args: readonly string[],
): Promise<GuardedProcess> {
  const output = new PassThrough();
  const errors = new PassThrough();
  let text = "";
  const isReady = new Promise<void>((resolve) => {
    output.setEncoding("utf8").on("data", (piece: string) => {
      if (piece.includes("ready")) resolve();
    });
  });
  errors.setEncoding("utf8").on("data", (piece: string) => {
    text = (text + piece).slice(-2_000);
  });
  const env = { PATH: `${platform.inheritedEnv.PATH ?? ""}:/usr/sbin:/sbin:/usr/bin:/bin` };
  const started = await processes.run({ command, args, env, cwd: "/", stdout: output, stderr: errors });
  const outcome = await first(platform.clock, { ready: isReady, gone: started.gone, late: setUpMs });
  if (outcome === "ready") return started;
  started.stop(0);
  await started.gone;
  throw new Error(`Cannot set up the network of pods: ${text.trim().split("\n")[0] || "it took too long"}`);
}
