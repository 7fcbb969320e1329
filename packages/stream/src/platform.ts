/** The only file of this package that asks the machine for time, randomness, its environment, signals or an end. */
import { writeSync } from "node:fs";

/** Time, passed in, so that a test can own it. */
export interface Clock {
  /** Monotonic, in milliseconds. */
  nowMs(): number;
  /** Calls back once. The result cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export const systemRandom = (): number => Math.random();

export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

export function warn(error: Error): void {
  process.emitWarning(String(error.stack ?? error.message), { type: String(error.name) });
}

/** What a worker asks of its process. */
export interface WorkerProcess {
  environment(name: string): string | undefined;
  /** The result ends the listening. */
  onSignal(name: NodeJS.Signals, listener: () => void): () => void;
  writeLine(fd: number, line: string): void;
  /** Whether there is a parent that listens by Node's IPC; it was told if there is. */
  tellParent(message: unknown): boolean;
  /** Ends with this code when nothing is left to do, and after the time in any case. */
  end(code: number, withinMs: number): void;
}

export const systemProcess: WorkerProcess = {
  environment,
  onSignal(name, listener) {
    process.on(name, listener);
    return () => process.off(name, listener);
  },
  writeLine(fd, line) {
    writeSync(fd, `${line}\n`);
  },
  tellParent(message) {
    if (!process.send) return false;
    process.send(message);
    return true;
  },
  end(code, withinMs) {
    process.exitCode = code;
    // The channel to the parent would keep this process alive for as long as the parent lives.
    if (process.connected) process.disconnect();
    // Not at once: what was written to sockets would be lost with the process, and a clean end look like a reset.
    setTimeout(() => process.exit(code), withinMs).unref();
  },
};
