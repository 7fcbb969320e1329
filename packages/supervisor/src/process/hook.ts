/**
 * Runs one hook: a program of the user that runs before the child starts, after it has stopped, or when the role changes. It runs
 * in its own process group, as the user of this process, and prints to our stdout and stderr.
 */
import { messageOf } from "@tenure/base";
import { sendSignal } from "../platform.ts";
import { startProgram } from "./spawn.ts";

interface HookContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  /** Aborts when the time of the hook is up. The reason says why. */
  readonly signal: AbortSignal;
}

/** Resolves when the program has exited with 0 and its process group is empty. Rejects otherwise, with the reason. */
export async function runHook(argv: readonly string[], { env, cwd, signal }: HookContext): Promise<void> {
  const [command = "", ...args] = argv;
  const { child, spawned } = startProgram({ command, args, env, cwd }, ["ignore", "inherit", "inherit"]);
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("exit", (code, by) =>
      resolve(by ? `it was killed by ${by}` : code === 0 ? undefined : `it exited with code ${code}`),
    );
  });
  const kill = () => {
    if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", kill, { once: true });
  try {
    await spawned;
    if (signal.aborted) kill();
    const failure = await ended;
    if (signal.aborted) throw new Error(messageOf(signal.reason));
    if (failure !== undefined) throw new Error(failure);
  } finally {
    signal.removeEventListener("abort", kill);
    // The processes that the hook left in its group.
    kill();
  }
}
