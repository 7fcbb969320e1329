/** Starts the process of a watchdog. Imports little, so that a command can start it before it loads anything else. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inheritedEnvironment, nodeProgram, ownPid, randomId } from "./platform.ts";

/** A watchdog that starts while its supervisor is still being set up. */
export interface StartedWatchdog {
  /** Names the processes that it guards. */
  readonly marker: string;
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** The process, for one supervisor. Undefined if it was taken, or did not live. */
  take(): ChildProcess | undefined;
  /** Ends it, unless a supervisor took it. Resolves when it has exited. */
  discard(): Promise<void>;
}

/** A small heap, and one thread for garbage collection. The watchdog is idle most of the time. */
const frugalFlags = ["--max-old-space-size=16", "--max-semi-space-size=1", "--v8-pool-size=1"];

/** Starts a watchdog ahead of its supervisor. If that fails, the supervisor starts its own and reports why it cannot. */
export function startWatchdog(): StartedWatchdog {
  const marker = randomId();
  let child = attempt(() => spawnWatchdog(marker));
  child?.on("error", () => {});
  return {
    marker,
    pid: child?.pid,
    take() {
      const taken = child;
      child = undefined;
      return taken?.pid !== undefined && taken.exitCode === null && taken.signalCode === null
        ? taken
        : undefined;
    },
    async discard() {
      const unused = child;
      child = undefined;
      if (unused?.kill("SIGKILL")) await new Promise((resolve) => unused.once("exit", resolve));
    },
  };
}

/** @param argv the command, without the arguments of the watchdog @default this Node, with as little memory as possible */
export function spawnWatchdog(
  marker: string,
  [command = "", ...args]: readonly string[] = [nodeProgram, ...frugalFlags, programFile()],
): ChildProcess {
  return spawn(command, [...args, marker, String(ownPid)], {
    // Its own session: neither Ctrl-C nor a signal to the supervisor's group reaches it.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    env: minimalEnvironment(),
    cwd: "/",
  });
}

/** The built program: below this file or, for tests that run on the sources, in dist. */
function programFile(): string {
  const here = fileURLToPath(new URL("./watchdog/main.js", import.meta.url));
  return existsSync(here) ? here : fileURLToPath(new URL("../dist/watchdog/main.js", import.meta.url));
}

/** Without NODE_OPTIONS, which would load inspectors and agents into the watchdog. */
function minimalEnvironment(): Record<string, string | undefined> {
  const { LD_LIBRARY_PATH, TZ } = inheritedEnvironment();
  return { LD_LIBRARY_PATH, TZ };
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
