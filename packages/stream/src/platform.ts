/** The only file of this package that uses the machine's environment, event loop and process. */
import { writeSync } from "node:fs";
import { processSignals, type SignalSource } from "@tenure/base";

export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** What a worker needs from its process. */
export interface WorkerProcess extends SignalSource {
  writeLine(fd: number, line: string): void;
  /** Sends a message to the parent over Node's IPC channel, if there is one. */
  sendToParent(message: unknown): void;
  /** Exits with this code as soon as the event loop is empty, and after `withinMs` in any case. */
  end(code: number, withinMs: number): void;
}

export const systemProcess: WorkerProcess = {
  ...processSignals,
  writeLine(fd, line) {
    writeSync(fd, `${line}\n`);
  },
  sendToParent(message) {
    process.send?.(message);
  },
  end(code, withinMs) {
    process.exitCode = code;
    // An open channel to the parent would keep this process alive.
    if (process.connected) process.disconnect();
    // Exiting at once would lose data in the sockets, and the peer would see a reset instead of a clean end.
    setTimeout(() => process.exit(code), withinMs).unref();
  },
};
