/**
 * The only door from this package to the machine: clock, timers, randomness, environment, files, processes.
 * Everything else gets a `Platform` passed in, so that a test owns time and a simulator owns chance.
 * It does not cover the network: sockets are real, also in tests.
 */
import type { Buffer } from "node:buffer";

export type RunOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the process may talk to the person at the terminal. */
  readonly interactive: boolean;
  /** More output than this ends the process. */
  readonly maxBytes: number;
  /** Kills the process; the promise of `run` then rejects. */
  readonly signal: AbortSignal;
};

export type RunResult = {
  /** `null` if a signal ended the process. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Platform = {
  /** Wall clock in milliseconds since 1970: only for comparing with timestamps that others wrote. */
  now(): number;
  /** Milliseconds that never jump: for every duration. */
  monotonicMs(): number;
  /** Calls back once; the returned function cancels. */
  setTimer(callback: () => void, ms: number): () => void;
  /** In [0, 1). */
  random(): number;
  readonly env: Readonly<Record<string, string | undefined>>;
  isTerminal(): boolean;
  /** UTF-8 text of a file; rejects with the error code of the system, or EFBIG above `maxBytes`. */
  readFile(path: string, maxBytes: number): Promise<string>;
  /** Runs a program to its end; rejects if it cannot be started, is killed by `signal`, or says too much. */
  run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult>;
};

/** The real machine. */
export const systemPlatform: Platform = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(callback, ms) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
  get env() {
    return process.env;
  },
  isTerminal: () => process.stdin.isTTY === true,
  readFile,
  run,
};

async function readFile(path: string, maxBytes: number): Promise<string> {
  const { open } = await import("node:fs/promises");
  const file = await open(path, "r");
  try {
    // Read with a bound rather than trusting stat: a pipe or a device has no size.
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(64 * 1024));
      if (bytesRead === 0) break;
      size += bytesRead;
      if (size > maxBytes) {
        throw Object.assign(new Error(`larger than ${maxBytes} bytes: ${path}`), { code: "EFBIG" });
      }
      chunks.push(buffer.subarray(0, bytesRead));
    }
    const decoder = new TextDecoder();
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } finally {
    await file.close();
  }
}

async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      env: options.env,
      stdio: [options.interactive ? "inherit" : "ignore", "pipe", "pipe"],
      windowsHide: true,
    });
    const stdout = new TextDecoder();
    const stderr = new TextDecoder();
    let out = "";
    let err = "";
    const finish = (settle: () => void): void => {
      options.signal.removeEventListener("abort", kill);
      settle();
    };
    const fail = (error: unknown): void => {
      child.kill("SIGKILL");
      // A grandchild may hold the pipes open; nobody waits for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      finish(() => reject(error));
    };
    const kill = (): void => fail(options.signal.reason);
    const limit = (): void => {
      if (out.length + err.length > options.maxBytes) fail(new Error(`more than ${options.maxBytes} bytes`));
    };
    child.stdout?.on("data", (chunk: Buffer) => {
      out += stdout.decode(chunk, { stream: true });
      limit();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      err += stderr.decode(chunk, { stream: true });
      // Prompts are written to stderr, and the person has to see them while the program waits.
      if (options.interactive) process.stderr.write(chunk);
      limit();
    });
    child.on("error", (error) => finish(() => reject(error)));
    child.on("close", (exitCode) => finish(() => resolve({ exitCode, stdout: out, stderr: err })));
    options.signal.addEventListener("abort", kill, { once: true });
    if (options.signal.aborted) kill();
  });
}
