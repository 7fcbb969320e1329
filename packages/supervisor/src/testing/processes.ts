/** For tests with real processes: which of them run, and waiting for a condition. Reads /proc in another way than the code does. */
import { readdirSync, readFileSync } from "node:fs";
import { sleep, systemClock } from "@tenure/base";

/** Waits until the condition holds. The limit only ends a test that fails; a busy machine may take its time. */
export async function until(condition: () => boolean, withinMs = 15_000): Promise<void> {
  const endMs = systemClock.now().monoMs + withinMs;
  while (!condition()) {
    if (systemClock.now().monoMs > endMs) throw new Error(`not true within ${withinMs} ms: ${condition}`);
    await sleep(systemClock, 5);
  }
}

interface Process {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly environment: string;
}

/** All processes that run, without this one. A zombie does not run. */
function processes(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const argv = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").filter(Boolean);
        const environment = readFileSync(`/proc/${name}/environ`, "utf8");
        return isRunning(Number(name)) ? [{ pid: Number(name), argv, environment }] : [];
      } catch {
        return [];
      }
    });
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/**
 * The processes that have this text anywhere in their command line or environment, to assert that there are none. Shells whose
 * script contains the text match too: to wait until a process runs, use `sleepers`.
 */
export function mentioning(text: string): string[] {
  return (
    processes()
      // The host of a test gets the scripts of its children as an argument.
      .filter(({ argv }) => !argv.some((word) => word.endsWith("host.mjs")))
      .filter(({ argv, environment }) => argv.join(" ").includes(text) || environment.includes(text))
      .map(({ pid, argv }) => `${pid} ${argv.join(" ")}`)
  );
}

/** The pids of the processes whose whole command line is `sleep SECONDS`. */
export function sleepers(seconds: string): number[] {
  return pidsOf(`sleep ${seconds}`);
}

/** The pids of the processes with exactly this command line. */
export function pidsOf(commandLine: string): number[] {
  return processes().flatMap(({ pid, argv }) => (argv.join(" ") === commandLine ? [pid] : []));
}

let count = 0;

/** A number of seconds that only one test passes to `sleep`. It names the process. */
export function uniqueSeconds(): string {
  count += 1;
  return `${100_000 + (process.pid % 50_000)}.${String(count).padStart(4, "0")}${Math.floor(Math.random() * 1e6)}`;
}
