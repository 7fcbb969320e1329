/** The only file of this package that asks the machine for time, randomness, signals or its output. */
import { constants, fstatSync, openSync, write, writeSync } from "node:fs";
import type { Clock } from "./clock.ts";
import type { SignalSource } from "./shutdown.ts";

/** The longest delay that Node's timers accept. */
const longestTimeoutMs = 2_147_483_647;

function monoMs(): number {
  // CLOCK_MONOTONIC, which all threads and processes of a machine share. The origin of performance.now() differs between
  // threads, but worker mode and the watchdog compare readings across them.
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

function newSystemClock(keepsProcessAlive: boolean): Clock {
  return {
    now: () => ({ monoMs: monoMs(), wallMs: Date.now() }),
    at: (atMs, callback) => {
      let timer: NodeJS.Timeout;
      let immediate: NodeJS.Immediate | undefined;
      const arm = () => {
        timer = setTimeout(fire, Math.min(Math.max(Math.ceil(atMs - monoMs()), 0), longestTimeoutMs));
        if (!keepsProcessAlive) timer.unref();
      };
      const fire = () => {
        if (monoMs() < atMs) arm();
        // After the event loop was blocked, Node runs timers before it reads sockets. Waiting for one more turn lets an
        // answer that has already arrived be handled first.
        else immediate = setImmediate(callback);
      };
      arm();
      return () => {
        clearTimeout(timer);
        if (immediate) clearImmediate(immediate);
      };
    },
  };
}

/** The machine's clock. An armed timer keeps the process alive. */
export const systemClock: Clock = newSystemClock(true);

/** The machine's clock. An armed timer does not keep the process alive. */
export const backgroundClock: Clock = newSystemClock(false);

/** A number in [0, 1). */
export const systemRandom = (): number => Math.random();

/** Emits a Node warning, for an error that nobody listens to. */
export function warn(error: Error): void {
  // Other people's errors may have any value as their stack and name.
  process.emitWarning(String(error.stack ?? error.message), { type: String(error.name) });
}

/** Throws the error outside of the current call, where nobody catches it. */
export function throwUncaught(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** The signals of this process. */
export const processSignals: SignalSource = {
  onSignal(signal, listener) {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
};

/** Resolves in the next turn of the event loop, after all promises that are ready to continue. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Writes to stdout (1) or stderr (2) without blocking this thread. Resolves with the number of bytes written; rejects with EAGAIN
 * if the reader is too slow. Node's own streams block the whole process when a terminal is stopped (Ctrl-S) or a pipe is full.
 */
export async function writeWithoutBlocking(descriptor: 1 | 2, bytes: Uint8Array): Promise<number> {
  descriptors[descriptor] ??= openForWriting(descriptor);
  const open = descriptors[descriptor];
  if (open !== "may block") return writeSync(open, bytes);
  // Node does this in a thread of its pool, which may block.
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

const descriptors: { [descriptor: number]: number | "may block" } = {};

/**
 * Opens stdout or stderr so that a write does not block. A file never blocks. A pipe or a terminal is opened again, because
 * O_NONBLOCK on our own descriptor would affect every process that shares it. A socket, or a pipe of another user, cannot be
 * opened again.
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
