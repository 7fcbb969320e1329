/** Starts a program in a process group and session of its own. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { inWords, SupervisorError } from "../errors.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
}

/** A child that runs. Rejects with `SpawnFailed` when it could not be started; then there is none. */
export function startProgram(
  program: Program,
  stdio: StdioOptions,
): { readonly child: ChildProcess; readonly spawned: Promise<void> } {
  const { command, args, env, cwd } = program;
  let child: ChildProcess;
  try {
    // A session of its own (detached) is a group of its own: one signal reaches all of it, and Ctrl-C none of it.
    child = spawn(command, [...args], { env, ...(cwd === undefined ? {} : { cwd }), stdio, detached: true });
  } catch (error) {
    throw failed(program, error);
  }
  const spawned = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(failed(program, error)));
  });
  // Later errors (a signal that cannot be sent, a message that cannot) must not end the supervisor.
  child.on("error", () => {});
  return { child, spawned };
}

function failed({ command, cwd }: Program, error: unknown): SupervisorError {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === "ENOENT"
      ? `there is no such program${cwd === undefined ? "" : `, or no folder ${cwd}`}`
      : code === "EACCES"
        ? "it is not executable"
        : inWords(error);
  return new SupervisorError("SpawnFailed", `Cannot start ${JSON.stringify(command)}: ${why}.`, {
    cause: error,
  });
}

/** Exit codes as a shell gives them: 127 for a program that is not there, 126 for one that cannot be run. */
export function exitCodeOfSpawnFailure(error: SupervisorError): number {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? 127 : 126;
}
