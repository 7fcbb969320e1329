/** The only file of this package that asks the machine for time, randomness, its environment or an end. */
import { constants, openSync, writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import type { Clock } from "./clock.ts";

/** Node cannot sleep longer in one go. */
const longestTimeoutMs = 2_147_483_647;

function monoMs(): number {
  // Not performance.now(): its origin differs between threads, and the worker mode compares readings of two.
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

export const systemClock: Clock = {
  now: () => ({ monoMs: monoMs(), wallMs: Date.now() }),
  at: (atMs, callback) => {
    let timer: NodeJS.Timeout;
    let immediate: NodeJS.Immediate | undefined;
    const arm = () => {
      timer = setTimeout(fire, Math.min(Math.max(Math.ceil(atMs - monoMs()), 0), longestTimeoutMs));
    };
    const fire = () => {
      if (monoMs() < atMs) arm();
      // After a blocked event loop timers run before sockets are read: let the answer that came meanwhile be heard first.
      else immediate = setImmediate(callback);
    };
    arm();
    return () => {
      clearTimeout(timer);
      if (immediate) clearImmediate(immediate);
    };
  },
};

export const systemRandom = (): number => Math.random();

export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** Says why on stderr, and ends the process with no chance for anything in it to go on. */
export function endProcess(message: string): never {
  try {
    // Not process.stderr: in a worker thread that is a message to the main thread, which may be too busy to read it.
    writeSync(stderrThatNeverBlocks(), `${message}\n`);
  } catch {
    // Closed or full. The end matters more than the word.
  }
  // SIGKILL of oneself is delivered before this returns.
  process.kill(process.pid, "SIGKILL");
  // Only the first process of a container is still here: no signal from within kills it, a fault of its own does.
  setFlagsFromString("--allow-natives-syntax");
  new Script("%SystemBreak()").runInThisContext();
  for (;;) {}
}

/** Stderr opened anew: whoever reads it may have stopped reading, and a full pipe must not put off the end. */
function stderrThatNeverBlocks(): number {
  try {
    return openSync("/dev/fd/2", constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    // A socket cannot be opened anew.
    return 2;
  }
}

export function warn(error: Error): void {
  // Errors of other people's making may have anything for a stack and a name.
  process.emitWarning(String(error.stack ?? error.message), { type: String(error.name) });
}
