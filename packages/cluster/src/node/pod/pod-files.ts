/** The folders and files of one pod on this machine. */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodePod } from "../pod.ts";

/** As in the kubelet. */
const longestMessage = 4096;

export class PodFiles {
  readonly #folder: string;
  readonly #logs: string;

  constructor(dataDirectory: string, { metadata }: NodePod) {
    const { namespace, name, uid } = metadata;
    this.#folder = join(dataDirectory, "pods", uid);
    this.#logs = join(dataDirectory, "logs", `${namespace}_${name}_${uid}`);
  }

  get volumes(): string {
    return join(this.#folder, "volumes");
  }

  get hosts(): string {
    return join(this.#folder, "hosts");
  }

  container(name: string): string {
    return join(this.#folder, "containers", name);
  }

  logOf(container: string, restartCount: number): string {
    return join(this.#logs, container, `${restartCount}.log`);
  }

  async create(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Writes into the file that containers have mounted: a new file would not reach them. */
  async writeHosts(pod: NodePod, podIP: string, services: readonly string[]): Promise<void> {
    const { hostname = pod.metadata.name, hostAliases = [] } = pod.spec;
    const aliases = hostAliases.map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join("\t")}`);
    const lines = [
      "127.0.0.1\tlocalhost",
      "::1\tlocalhost",
      `${podIP}\t${hostname}`,
      ...aliases,
      ...services,
    ];
    const text = `${lines.join("\n")}\n`;
    const before = await readFile(this.hosts, "utf8").catch(() => undefined);
    if (before !== text) await writeFile(this.hosts, text);
  }

  /** An empty file for the last words of a container. */
  async terminationLog(container: string): Promise<string> {
    const path = join(this.container(container), "termination-log");
    await mkdir(this.container(container), { recursive: true });
    await writeFile(path, "", { mode: 0o666 });
    return path;
  }

  async terminationMessage(container: string): Promise<string | undefined> {
    const path = join(this.container(container), "termination-log");
    const text = await readFile(path, "utf8").catch(() => "");
    return text.slice(0, longestMessage) || undefined;
  }

  /** The volumes are gone, the logs stay readable. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  async removeLogs(): Promise<void> {
    await rm(this.#logs, { recursive: true, force: true });
  }

  hasLog(container: string, restartCount: number): boolean {
    return existsSync(this.logOf(container, restartCount));
  }
}
