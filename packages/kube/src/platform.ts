/**
 * The only file of this package that uses the machine: clock, randomness, environment, files, processes. All other code gets
 * a `Platform` passed in, so that a test can control it. Tests use real sockets; only the simulator replaces them.
 */
import type * as http from "node:http";
import type * as https from "node:https";
import { type Clock, onAbort, systemClock, systemRandom } from "@tenure/base";

export type ProcessOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the process may prompt the user at the terminal. */
  readonly interactive: boolean;
  /** A process that writes more than this is killed. */
  readonly maxBytes: number;
  /** Kills the process. The promise of `runProcess` then rejects. */
  readonly signal: AbortSignal;
};

export type ProcessResult = {
  /** `null` if a signal killed the process. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** The part of node:http and node:https that the client uses. */
type HttpModule = {
  request(options: https.RequestOptions): http.ClientRequest;
  readonly Agent: new (options: https.AgentOptions) => http.Agent;
};

export type Platform = {
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
  readonly env: Readonly<Record<string, string | undefined>>;
  isTerminal(): boolean;
  /** The UTF-8 text of a file. Rejects with the system's error code, or EFBIG if it is larger than `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<string>;
  /** Runs a program until it exits. Rejects if it cannot start, is killed by `signal`, or writes too much. */
  runProcess(command: string, args: readonly string[], options: ProcessOptions): Promise<ProcessResult>;
  /** Replaces the network, for a simulation. @default node:http or node:https */
  readonly http?: HttpModule | undefined;
};

/** The real machine. */
export const systemPlatform: Platform = {
  clock: systemClock,
  random: systemRandom,
  get env() {
    return process.env;
  },
  isTerminal: () => process.stdin.isTTY === true,
  readFile,
  runProcess,
};

async function readFile(path: string, maxBytes: number): Promise<string> {
  // Not node:fs/promises, which takes milliseconds to load: every pod reads its token before it can lead.
  const { open, read, close } = await import("node:fs");
  const file = await resultOf<number>((done) => open(path, "r", done));
  try {
    // Count the bytes instead of trusting stat: a pipe or a device has no size.
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const buffer = new Uint8Array(64 * 1024);
      const bytesRead = await resultOf<number>((done) => read(file, buffer, 0, buffer.length, null, done));
      if (bytesRead === 0) break;
      size += bytesRead;
      if (size > maxBytes) {
        throw Object.assign(new Error(`larger than ${maxBytes} bytes: ${path}`), { code: "EFBIG" });
      }
      chunks.push(buffer.subarray(0, bytesRead));
    }
    // Some editors begin a file with a byte order mark.
    return Buffer.concat(chunks)
      .toString("utf8")
      .replace(/^\ufeff/, "");
  } finally {
    await resultOf<void>((done) => close(file, done));
  }
}

/** The result of a function with a callback. */
function resultOf<T>(start: (done: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}

async function runProcess(
  command: string,
  args: readonly string[],
  { env, interactive, maxBytes, signal }: ProcessOptions,
): Promise<ProcessResult> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      env,
      stdio: [interactive ? "inherit" : "ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    const output = { stdout: "", stderr: "" };
    const kill = (error: unknown): void => {
      offAbort();
      child.kill("SIGKILL");
      // A grandchild may hold the pipes open. Do not wait for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      reject(error);
    };
    const collect = (name: "stdout" | "stderr", chunk: Buffer): void => {
      output[name] += decoders[name].decode(chunk, { stream: true });
      if (output.stdout.length + output.stderr.length > maxBytes) {
        kill(new Error(`it wrote more than ${maxBytes} bytes`));
      }
    };
    child.stdout?.on("data", (chunk: Buffer) => collect("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => {
      // Programs write prompts to stderr, and the user needs to see them while the program waits.
      if (interactive) process.stderr.write(chunk);
      collect("stderr", chunk);
    });
    const offAbort = onAbort(signal, () => kill(signal.reason));
    child.on("error", (error) => {
      offAbort();
      reject(error);
    });
    child.on("close", (exitCode) => {
      offAbort();
      resolve({ exitCode, ...output });
    });
    if (signal.aborted) kill(signal.reason);
  });
}
