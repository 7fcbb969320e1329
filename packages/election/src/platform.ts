/** The only file of this package that asks the machine for its environment or ends the process. */
import { constants, openSync, writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { Script } from "node:vm";
import type { Clock } from "@tenure/base";

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
