/** The only file of this package that reads the environment or ends the process. */
import { constants, openSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { systemRandom } from "@tenure/base";
import { uniqueIdentity } from "@tenure/core";

export function environment(name: string): string | undefined {
  return process.env[name] || undefined;
}

/** An identity for a process outside of Kubernetes. Every call returns another one. */
export function hostIdentity(): string {
  return uniqueIdentity(hostname(), systemRandom());
}

/** Prints the message to stderr and ends the process at once. No other code in the process runs after it. */
export function endProcess(message: string): never {
  try {
    // Not process.stderr: in a worker thread that sends a message to the main thread, which may be too busy to read it.
    writeSync(openNonBlockingStderr(), `${message}\n`);
  } catch {
    // Stderr is closed or full. Ending the process matters more than the message.
  }
  // The kernel delivers a SIGKILL to oneself before this call returns.
  process.kill(process.pid, "SIGKILL");
  // Only PID 1 of a container gets here: no signal from inside the container kills it, but a fault of its own does.
  // Loaded here, because hardly any process needs them.
  process.getBuiltinModule("node:v8").setFlagsFromString("--allow-natives-syntax");
  new (process.getBuiltinModule("node:vm").Script)("%SystemBreak()").runInThisContext();
  for (;;) {}
}

/** Nobody may be reading stderr. A full pipe must not delay the end of the process. */
function openNonBlockingStderr(): number {
  try {
    return openSync("/dev/fd/2", constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    // A socket cannot be opened a second time.
    return 2;
  }
}
