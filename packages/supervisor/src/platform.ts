/**
 * The only file of this package that asks the machine for time, randomness, its environment or a signal. The watchdog
 * loads it too: it imports nothing, so that the watchdog stays small.
 */
import type { Clock } from "@tenure/base";

/** Node cannot sleep longer in one go. */
const longestTimeoutMs = 2_147_483_647;

function monoMs(): number {
  // CLOCK_MONOTONIC, the same for all processes of a machine: the watchdog compares with what the supervisor read.
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

export const systemClock: Clock = {
  now: () => ({ monoMs: monoMs(), wallMs: Date.now() }),
  at: (atMs, callback) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      timer = setTimeout(fire, Math.min(Math.max(Math.ceil(atMs - monoMs()), 0), longestTimeoutMs));
    };
    const fire = () => {
      if (monoMs() < atMs) arm();
      else callback();
    };
    arm();
    return () => clearTimeout(timer);
  },
};

export const ownPid: number = process.pid;

/** What a child inherits. */
export function inheritedEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/** Differs from every other ever made. */
export function randomId(): string {
  return globalThis.crypto.randomUUID().replaceAll("-", "");
}

export type Delivery = "sent" | "gone" | "denied";

/** A negative pid is a process group; the signal 0 only asks whether anybody is there. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): Delivery {
  // 0 and -1 are everybody, which is never meant.
  if (pid === 0 || pid === -1) return "denied";
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "gone" : "denied";
  }
}

export function endProcess(code: number): never {
  process.exit(code);
}

/** For what nobody listens to. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? (error.stack ?? error.message) : String(error), {
    type: "SupervisorWarning",
  });
}
