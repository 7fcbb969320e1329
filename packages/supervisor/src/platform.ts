/** The only file of this package that asks the machine for randomness, its environment, its processes or its streams. */
import { constants, tmpdir } from "node:os";
import type { Readable, Writable } from "node:stream";

export const ownPid: number = process.pid;

/** The arguments of this program. */
export const ownArguments: readonly string[] = process.argv.slice(2);

/** The Node program that runs this process. */
export const nodeProgram: string = process.execPath;

export const temporaryFolder = (): string => tmpdir();

// Functions, because a stream that nobody asks for is not opened.
export const ownStdin = (): Readable => process.stdin;
export const ownStdout = (): Writable => process.stdout;

/** The environment that a child inherits. */
export function inheritedEnvironment(): Record<string, string | undefined> {
  return { ...process.env };
}

/**
 * A new id that no other process of this machine has had or will have. Not from node:crypto, which takes milliseconds to load, and
 * the watchdog is the first thing that a command starts.
 */
export function randomId(): string {
  const random = Math.floor(Math.random() * 2 ** 32);
  return hex(process.pid, 8) + hex(process.hrtime.bigint(), 16) + hex(random, 8);
}

function hex(number: number | bigint, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}

export type Delivery = "sent" | "gone" | "denied";

/** Sends a signal to a process, or to a process group if the pid is negative. Signal 0 only checks that there is one. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): Delivery {
  // 0 and -1 mean every process, which no caller intends.
  if (pid === 0 || pid === -1) return "denied";
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? "gone" : "denied";
  }
}

/** The number of a signal; 0 if this machine does not have it. */
export function signalNumber(signal: string): number {
  return constants.signals[signal as NodeJS.Signals] ?? 0;
}

/** Makes this process ignore the signal. */
export function ignoreSignal(signal: NodeJS.Signals): void {
  process.on(signal, () => {});
}

/** Sets the name that `ps` shows for this process. */
export function setTitle(title: string): void {
  process.title = title;
}

export function endProcess(code: number): never {
  process.exit(code);
}
