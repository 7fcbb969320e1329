/** For tests with real processes: who is there, and waiting for what is expected, with a deadline. */
import { readdirSync, readFileSync } from "node:fs";
import { systemClock } from "../platform.ts";

/** Fails when it does not come to that. */
export async function until(isSo: () => boolean, withinMs = 15_000): Promise<void> {
  const endMs = systemClock.now().monoMs + withinMs;
  while (!isSo()) {
    if (systemClock.now().monoMs > endMs)
      throw new Error(`it did not come to that within ${withinMs} ms: ${isSo}`);
    await passMs(5);
  }
}

export function passMs(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.at(systemClock.now().monoMs + ms, resolve));
}

/** The command lines of all live processes with this text in their command line or environment; another way than the code's. */
export function alive(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        // The host of a test is told the names of its children.
        const isDead = /^State:\s+[ZX]/m.test(status) || command.includes("host.mjs");
        return !isDead && (command.includes(text) || environment.includes(text)) ? [`${pid} ${command}`] : [];
      } catch {
        return [];
      }
    });
}

let count = 0;

/** A number of seconds for `sleep` that nobody else sleeps for: it names a process. */
export function uniqueSeconds(): string {
  count += 1;
  return `${100_000 + (process.pid % 50_000)}.${String(count).padStart(4, "0")}${Math.floor(Math.random() * 1e6)}`;
}
