/** What a node agent asks of its machine. No other file of the node agent does. */
import { randomBytes } from "node:crypto";
import { arch, availableParallelism, hostname, platform, release, tmpdir, totalmem } from "node:os";
import { systemPlatform as basePlatform, type Platform } from "../platform.ts";

export interface NodePlatform extends Platform {
  /** The variables that a container gets if its pod does not set them, as from an image. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly machine: {
    readonly cpus: number;
    readonly memoryBytes: number;
    readonly hostname: string;
    readonly arch: string;
    readonly os: string;
    readonly kernel: string;
    readonly isRoot: boolean;
    readonly userId: number;
    readonly temporaryFolder: string;
    readonly pid: number;
  };
  /** The path of Node. */
  readonly nodeProgram: string;
  /** Kills a process and its group. */
  kill(pid: number): void;
  /** A secret that nobody can guess, in hexadecimal. */
  randomSecret(): string;
}

/** Programs need these to find other programs and libraries. Everything else of the agent's environment stays with the agent. */
const inheritedNames = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "SHELL", "LD_LIBRARY_PATH"];

const goArch: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" };

export const systemNodePlatform: NodePlatform = {
  ...basePlatform,
  get inheritedEnv() {
    return Object.fromEntries(
      inheritedNames.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    );
  },
  get machine() {
    const userId = process.getuid?.() ?? 0;
    return {
      cpus: availableParallelism(),
      memoryBytes: totalmem(),
      hostname: hostname(),
      arch: goArch[arch()] ?? arch(),
      os: platform(),
      kernel: release(),
      isRoot: userId === 0,
      userId,
      temporaryFolder: tmpdir(),
      pid: process.pid,
    };
  },
  nodeProgram: process.execPath,
  kill(pid) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has already ended.
    }
  },
  randomSecret: () => randomBytes(32).toString("hex"),
};
