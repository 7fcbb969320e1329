/**
 * Passed by a command that ends with 0. It has a process group of its own, which is killed with the signal, and carries the
 * marker of the child's family, so that nothing of it outlives a term.
 */
import type { Readable } from "node:stream";
import { sendSignal } from "../platform.ts";
import { startProgram } from "../process/spawn.ts";
import type { CheckContext } from "./run.ts";

/** So much of what it prints is told when it fails. */
const mostText = 300;

export async function askExec(
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
    const problem = await ended;
    signal.throwIfAborted();
    if (problem !== "") throw new Error([problem, text()].filter(Boolean).join(": "));
  } finally {
    signal.removeEventListener("abort", kill);
    // What it left behind in its group.
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
      if (text.length < mostText) text += piece;
    });
  }
  return () => text.slice(0, mostText).trim().replaceAll(/\s+/g, " ");
}
