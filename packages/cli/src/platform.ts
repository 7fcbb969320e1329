/** All that the command takes from the process it runs in. Nothing else in this package may touch it. */
import { constants, fstatSync, openSync, write, writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface Platform {
  /** What was typed behind the name of the command. */
  args: string[];
  env(name: string): string | undefined;
  /** The whole environment, for programs that are started. */
  environment(): Record<string, string | undefined>;
  homeDirectory(): string;
  /** Whether a person looks at the output. */
  isTerminal: boolean;
  /** Whether a person looks at stderr. */
  isErrorTerminal: boolean;
  out(text: string): void;
  err(text: string): void;
  /**
   * Writes to a descriptor without making this thread wait for its reader; resolves with the bytes written, rejects with
   * EAGAIN when the reader has to be waited for.
   */
  write(descriptor: 1 | 2, bytes: Uint8Array): Promise<number>;
  pid: number;
  /** Resolves with the first signal that asks to stop; a second one ends the process at once. */
  stopSignal(): Promise<string>;
  /** Calls back for each of these signals, which then do nothing else. The result ends it. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void;
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Calls back once; the result cancels. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back again and again; the result ends it. It does not keep the process alive. */
  every(ms: number, callback: () => void): () => void;
  exit(code: number): never;
}

export const systemPlatform: Platform = {
  args: process.argv.slice(2),
  env: (name) => process.env[name],
  environment: () => ({ ...process.env }),
  homeDirectory: () => homedir(),
  isTerminal: process.stdout.isTTY === true,
  isErrorTerminal: process.stderr.isTTY === true,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async write(descriptor, bytes) {
    descriptors[descriptor] ??= openForWriting(descriptor);
    const open = descriptors[descriptor];
    if (open !== "may block") return writeSync(open, bytes);
    // In another thread, which may have to wait.
    return new Promise((resolve, reject) => {
      write(descriptor, bytes, (error, written) => (error ? reject(error) : resolve(written)));
    });
  },
  pid: process.pid,
  stopSignal: () =>
    new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(signal));
    }),
  onSignal(signal, listener) {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
  wallMs: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms).unref();
    return () => clearInterval(timer);
  },
  exit: (code) => process.exit(code),
};

const descriptors: { [descriptor: number]: number | "may block" } = {};

/**
 * Stdout or stderr such that writing does not block: a file never does; a pipe or a terminal is opened anew, as making ours
 * non-blocking would make it so for everybody who shares it. Of a socket, or of a pipe of another user, it cannot be had.
 */
function openForWriting(descriptor: 1 | 2): number | "may block" {
  try {
    const found = fstatSync(descriptor);
    if (found.isFile()) return descriptor;
    if (!found.isFIFO() && !found.isCharacterDevice()) return "may block";
    return openSync(`/dev/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return "may block";
  }
}

export const defaultKubeconfigPath = (platform: Platform) =>
  join(platform.homeDirectory(), ".tenure", "sandbox.kubeconfig");
