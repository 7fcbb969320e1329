/** Everything that the command takes from its process. No other file of this package reads it. */
import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import {
  backgroundClock,
  type Clock,
  processSignals,
  type SignalSource,
  systemClock,
  writeWithoutBlocking,
} from "@tenure/base";
import type { StartedWatchdog } from "@tenure/supervisor/start-watchdog";

export interface TerminalSize {
  columns(): number;
  rows(): number;
  /** Calls back when the size changes. The returned function stops that. */
  onResize(listener: () => void): () => void;
}

export interface Platform extends SignalSource {
  /** The arguments after the name of the command. */
  args: string[];
  env(name: string): string | undefined;
  /** The whole environment, to pass on to other programs. */
  environment(): Record<string, string | undefined>;
  homeDirectory(): string;
  /** In a pod, the name of the pod; with hostNetwork, the name of the node. */
  hostName(): string;
  /** Whether stdout is a terminal. */
  isTerminal: boolean;
  /** Whether stderr is a terminal. */
  isErrorTerminal: boolean;
  /** Whether stdin is a terminal. */
  isInputTerminal: boolean;
  terminal: TerminalSize;
  /** Calls back with what the terminal sends for each key, Ctrl-C included. The returned function gives the terminal back. */
  onKey(listener: (keys: string) => void): () => void;
  out(text: string): void;
  err(text: string): void;
  /**
   * Writes to a descriptor without blocking this thread. Resolves with the number of bytes written; rejects with EAGAIN if the
   * reader is too slow.
   */
  write(descriptor: 1 | 2, bytes: Uint8Array): Promise<number>;
  pid: number;
  /** The user that this process runs as. */
  uid(): number;
  /** The pid of the parent. */
  parent(): number;
  /** The pid of the parent and, if the parent is a shell, the pid of the shell's parent. They change when one of these ends. */
  parents(): readonly number[];
  /** An armed timer keeps the process alive. */
  clock: Clock;
  /** An armed timer does not keep the process alive. */
  backgroundClock: Clock;
  exit(code: number): never;
  /** The watchdog that `tenure run` started before it loaded anything else. @default none */
  watchdog?: StartedWatchdog | undefined;
}

/** Sizes for a terminal that does not report its own. */
const defaultColumns = 80;
const defaultRows = 24;

export const systemPlatform: Platform = {
  ...processSignals,
  args: process.argv.slice(2),
  env: (name) => process.env[name],
  environment: () => ({ ...process.env }),
  homeDirectory: () => homedir(),
  hostName: () => hostname(),
  // Not process.stdout.isTTY and the like, because that would open the streams.
  isTerminal: isatty(1),
  isErrorTerminal: isatty(2),
  isInputTerminal: isatty(0),
  terminal: {
    columns: () => process.stdout.columns || defaultColumns,
    rows: () => process.stdout.rows || defaultRows,
    onResize(listener) {
      process.stdout.on("resize", listener);
      return () => process.stdout.off("resize", listener);
    },
  },
  onKey(listener) {
    const { stdin } = process;
    stdin.setRawMode(true).setEncoding("utf8").on("data", listener);
    return () => {
      stdin.off("data", listener);
      stdin.setRawMode(false).pause();
    };
  },
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  write: writeWithoutBlocking,
  pid: process.pid,
  uid: () => process.geteuid?.() ?? 0,
  parent: () => process.ppid,
  parents: () => [process.ppid, ...parentOfShell(process.ppid)],
  clock: systemClock,
  backgroundClock,
  exit: (code) => process.exit(code),
};

/** npm starts a command through a shell. Without /proc, only the shell itself is known. */
function parentOfShell(pid: number): number[] {
  try {
    const [name = "", fields = ""] = readFileSync(`/proc/${pid}/stat`, "latin1")
      .split(/^\d+ \(|\) (?=[A-Z] )/)
      .slice(1);
    return /^(?:ba|da|a|z|k)?sh$/.test(name) ? [Number(fields.split(" ")[1])] : [];
  } catch {
    return [];
  }
}

export const defaultKubeconfigPath = (platform: Platform) =>
  join(platform.homeDirectory(), ".tenure", "sandbox.kubeconfig");
