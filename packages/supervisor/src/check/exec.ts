/**
 * Passes if the command exits with 0. The command runs in its own process group, which is killed when the signal aborts. Its
 * environment carries the marker of the child's process tree, so that it cannot outlive the term.
 */
import type { Readable } from "node:stream";
import { sendSignal } from "../platform.ts";
import { startProgram } from "../process/spawn.ts";
import type { CheckContext } from "./spec.ts";

/** How much of the command's output a failure quotes. */
const mostCharacters = 300;

export async function checkExec(
  argv: readonly string[],
  { env, cwd }: CheckContext,
  signal: AbortSignal,
): Promise<void> {
  const [command = "", ...args] = argv;
  const { child, spawned } = startProgram({ command, args, env, cwd }, ["ignore", "pipe", "pipe"]);
  const text = collect([child.stdout, child.stderr]);
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, by) => resolve(code === 0 ? "" : by ? `killed by ${by}` : `exit code ${code}`));
  });
  const kill = () => {
    if (child.pid !== undefined) sendSignal(-child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", kill, { once: true });
  try {
    await spawned;
    if (signal.aborted) kill();
    const failure = await ended;
    signal.throwIfAborted();
    if (failure !== "") throw new Error([failure, text()].filter(Boolean).join(": "));
  } finally {
    signal.removeEventListener("abort", kill);
    // The processes that the command left in its group.
    kill();
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function collect(streams: readonly (Readable | null)[]): () => string {
  let text = "";
  for (const stream of streams) {
    stream?.setEncoding("utf8").on("error", () => {});
    stream?.on("data", (piece: string) => {
      if (text.length < mostCharacters) text += piece;
    });
  }
  return () => text.slice(0, mostCharacters).trim().replaceAll(/\s+/g, " ");
}
