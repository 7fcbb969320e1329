/** Performs what the machine of one pod decides: folders, volumes, processes, probes and hooks. */
import { connect, type Socket } from "node:net";
import { messageOf, sleep } from "@tenure/base";
import { exitCodeOf } from "@tenure/supervisor/internal";
import { loopbackTwin } from "../addresses.ts";
import { environmentOf } from "../container/environment.ts";
import { resolveImage } from "../container/image.ts";
import type { Mount } from "../isolation/isolation.ts";
import { ContainerLog } from "../logs/container-log.ts";
import { readLog } from "../logs/read-log.ts";
import type { ProbeKind } from "../machine/types.ts";
import type { Handler, NodeContainer, NodePod } from "../pod.ts";
import { PodTokens } from "../volumes/pod-tokens.ts";
import { PodVolumes } from "../volumes/pod-volumes.ts";
import type { VolumeContext } from "../volumes/volume-files.ts";
import type { PodContext } from "./pod-context.ts";
import { PodFiles } from "./pod-files.ts";
import { portsOf } from "./pod-ports.ts";
import { runHandler } from "./probe-check.ts";
import { type RunningContainer, runningContainer } from "./running-container.ts";
import { serviceVariables } from "./service-variables.ts";

/** How often the files of volumes are compared with the API. */
const refreshMs = 3_000;
/** How much of the log becomes the message of a container that failed without one. */
const messageLines = 80;
const messageBytes = 2048;

export interface PodAddresses {
  readonly podIP: string;
  readonly hostIP: string;
}

export interface ExitFacts {
  readonly exitCode: number;
  readonly message: string | undefined;
}

export class PodRuntime {
  readonly files: PodFiles;
  readonly #context: PodContext;
  readonly #podIP: string;
  readonly #hostIP: string;
  readonly #volumes: PodVolumes;
  readonly #tokens: PodTokens;
  readonly #running = new Map<string, RunningContainer>();
  readonly #ended = new AbortController();
  #pod: NodePod;

  constructor(context: PodContext, pod: NodePod, { podIP, hostIP }: PodAddresses) {
    this.#context = context;
    this.#pod = pod;
    this.#podIP = podIP;
    this.#hostIP = hostIP;
    this.files = new PodFiles(context.dataDirectory, pod);
    this.#volumes = new PodVolumes(this.files.volumes, pod.spec.volumes ?? []);
    this.#tokens = new PodTokens(context.client, context.platform.clock, pod);
  }

  /** Labels and annotations can change while the pod runs. */
  update(pod: NodePod): void {
    this.#pod = pod;
  }

  running(container: string): RunningContainer | undefined {
    return this.#running.get(container);
  }

  /** Where the node reaches the ports that the pod declares. */
  get address(): string {
    return loopbackTwin(this.#podIP);
  }

  /** Connects to any port of the pod. Rejects if nothing listens there. */
  connect(port: number): Promise<Socket> {
    const { network } = this.#context.isolation;
    if (network) return network.dial(this.#podIP, port);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.address, port, allowHalfOpen: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(socket.off("error", reject)));
    });
  }

  async setUp(): Promise<void> {
    await this.files.create();
    await this.#context.isolation.network?.add(this.#podIP, portsOf(this.#pod));
    await this.#writeHosts();
    await this.#volumes.create(this.#volumeContext());
    void this.#keepFresh();
  }

  /** Starts a container. Resolves when it runs. `onExit` is called when it and its descendants have exited. */
  async start(
    name: string,
    attempt: number,
    restartCount: number,
    onExit: (facts: ExitFacts) => void,
  ): Promise<void> {
    const { isolation, processes, platform } = this.#context;
    const spec = this.#specOf(name);
    const env = await this.#environment(spec);
    const { argv, folder, path } = resolveImage(spec, this.#context.images, env);
    const plan = {
      argv,
      env: { ...env, PATH: path },
      workingDir: spec.workingDir,
      imageFolder: folder,
      mounts: await this.#mounts(spec),
      hostname: this.#pod.spec.hostname ?? this.#pod.metadata.name,
      podIP: this.#podIP,
      folder: this.files.container(name),
    };
    const launch = await isolation.prepare(plan);
    const log = new ContainerLog(this.files.logOf(name, restartCount), platform.clock);
    try {
      const process = await processes.run({
        ...launch,
        stdout: log.stream("stdout"),
        stderr: log.stream("stderr"),
        hasInput: spec.stdin ?? false,
        signalTarget: (pid) => isolation.mainProcess(pid),
      });
      this.#running.set(name, runningContainer(name, attempt, process, log, plan, isolation));
      void process.gone.then(async ({ exit }) => {
        log.end();
        if (this.#running.get(name)?.attempt === attempt) this.#running.delete(name);
        const exitCode = exitCodeOf(exit);
        onExit({ exitCode, message: await this.#lastWords(spec, log, exitCode) });
      });
    } catch (error) {
      log.end();
      throw error;
    }
  }

  stop(name: string, attempt: number, graceMs: number): void {
    const running = this.#running.get(name);
    if (running?.attempt === attempt) running.process.stop(graceMs);
  }

  async probe(name: string, kind: ProbeKind, timeoutMs: number): Promise<string | undefined> {
    const probe = this.#specOf(name)[`${kind}Probe`];
    return probe ? this.#handle(name, probe, timeoutMs) : undefined;
  }

  async hook(name: string, hook: "postStart" | "preStop", timeoutMs: number): Promise<string | undefined> {
    const handler = this.#specOf(name).lifecycle?.[hook];
    return handler ? this.#handle(name, handler, timeoutMs) : undefined;
  }

  async cleanUp(): Promise<void> {
    this.#ended.abort();
    await this.#context.isolation.network?.remove(this.#podIP);
    await this.files.remove();
  }

  async #handle(name: string, handler: Handler, timeoutMs: number): Promise<string | undefined> {
    const running = this.#running.get(name);
    if (!running) return "the container does not run";
    const enter = (argv: readonly string[]) => running.enter(argv);
    const connectTo = (port: number) => this.connect(port);
    const { network } = this.#context.isolation;
    const target = {
      container: this.#specOf(name),
      address: this.address,
      enter,
      connect: connectTo,
      portOnMachine: (port: number) => network?.portOnMachine(this.#podIP, port) ?? port,
    };
    return runHandler(handler, target, timeoutMs, this.#context.platform);
  }

  async #environment(spec: NodeContainer): Promise<Record<string, string>> {
    const { isolation, lookup, allocatable, platform } = this.#context;
    const apiServer = this.#context.apiServer();
    const { namespace = "", name } = this.#pod.metadata;
    const { hostname = name, enableServiceLinks = true } = this.#pod.spec;
    const services = enableServiceLinks
      ? serviceVariables(this.#context.services(), namespace, (address) => isolation.addressInPod(address))
      : {};
    const own = await environmentOf(spec, {
      pod: this.#pod,
      place: this.#place(),
      lookup,
      allocatable,
      serviceVariables: {
        ...services,
        KUBERNETES_SERVICE_HOST: apiServer.host,
        KUBERNETES_SERVICE_PORT: apiServer.port,
        KUBERNETES_SERVICE_PORT_HTTPS: apiServer.port,
      },
    });
    return { ...platform.inheritedEnv, HOSTNAME: hostname, ...own };
  }

  async #mounts(spec: NodeContainer): Promise<Mount[]> {
    const message = await this.files.terminationLog(spec.name);
    const own: Mount[] = [
      { source: this.files.hosts, target: "/etc/hosts", readOnly: false },
      { source: message, target: spec.terminationMessagePath ?? "/dev/termination-log", readOnly: false },
    ];
    const volumes = (spec.volumeMounts ?? []).map(({ name, mountPath, subPath, readOnly = false }) => ({
      source: subPath ? `${this.#volumes.pathOf(name)}/${subPath}` : this.#volumes.pathOf(name),
      target: mountPath,
      readOnly,
    }));
    return [...own, ...volumes];
  }

  async #lastWords(spec: NodeContainer, log: ContainerLog, exitCode: number): Promise<string | undefined> {
    const message = await this.files.terminationMessage(spec.name);
    if (message || exitCode === 0 || spec.terminationMessagePolicy !== "FallbackToLogsOnError")
      return message;
    const pieces: Buffer[] = [];
    const options = { tailLines: messageLines, signal: this.#ended.signal };
    for await (const piece of readLog(log.path, undefined, options)) pieces.push(piece);
    return Buffer.concat(pieces).subarray(-messageBytes).toString("utf8") || undefined;
  }

  async #keepFresh(): Promise<void> {
    const { platform, onError } = this.#context;
    while (!this.#ended.signal.aborted) {
      await sleep(platform.clock, refreshMs, this.#ended.signal);
      if (this.#ended.signal.aborted) return;
      try {
        await this.#writeHosts();
        if (this.#volumes.hasFiles) await this.#volumes.refresh(this.#volumeContext());
      } catch (error) {
        // The pod was removed meanwhile, or the API does not answer; what is there stays.
        if (!this.#ended.signal.aborted) onError(new Error(messageOf(error), { cause: error }));
      }
    }
  }

  async #writeHosts(): Promise<void> {
    const lines = this.#context.hostLines(this.#pod.metadata.namespace ?? "");
    await this.files.writeHosts(this.#pod, this.#addressInPod, lines);
  }

  /** The address that the processes of the pod use. */
  get #addressInPod(): string {
    return this.#context.isolation.addressInPod(this.#podIP);
  }

  #place() {
    return { nodeName: this.#context.nodeName, hostIP: this.#hostIP, podIP: this.#addressInPod };
  }

  #volumeContext(): VolumeContext {
    const { lookup, allocatable } = this.#context;
    return {
      pod: this.#pod,
      place: this.#place(),
      lookup,
      allocatable,
      token: (audience, seconds) => this.#tokens.token(audience, seconds),
    };
  }

  #specOf(name: string): NodeContainer {
    const { containers, initContainers = [] } = this.#pod.spec;
    const found = [...initContainers, ...containers].find((container) => container.name === name);
    if (!found) throw new Error(`the pod has no container ${JSON.stringify(name)}`);
    return found;
  }
}
