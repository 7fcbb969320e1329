/** Starts a program in its own process group and session. */
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { messageOf } from "@tenure/base";
import { SupervisorError } from "../errors.ts";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  /** The user and the group to run as. All other groups are dropped. @default those of this process */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/** `spawned` rejects with `SpawnFailed` if the program cannot be started. There is no process then. */
export function startProgram(
  program: Program,
  stdio: StdioOptions,
): { readonly child: ChildProcess; readonly spawned: Promise<void> } {
  const { command, args, env, cwd, user } = program;
  let child: ChildProcess;
  try {
    // `detached` gives it its own session and group: one signal reaches the whole group, and Ctrl-C does not reach it.
    const options = { env, ...(cwd === undefined ? {} : { cwd }), ...user, stdio, detached: true };
    child = spawn(command, [...args], options);
  } catch (error) {
    throw failed(program, error);
  }
  const spawned = new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(failed(program, error)));
  });
  // Later errors (a signal or a message that cannot be sent) must not end the supervisor.
  child.on("error", () => {});
  return { child, spawned };
}

function failed({ command, cwd, user }: Program, error: unknown): SupervisorError {
  const code = (error as NodeJS.ErrnoException).code;
  const why =
    code === "ENOENT"
      ? `there is no such program${cwd === undefined ? "" : `, or no folder ${cwd}`}`
      : code === "EACCES"
        ? `it is not executable${user ? ` for user ${user.uid}` : ""}`
        : code === "EPERM" && user
          ? `this process may not switch to user ${user.uid}`
          : messageOf(error);
  return new SupervisorError("SpawnFailed", `Cannot start ${JSON.stringify(command)}: ${why}.`, {
    cause: error,
  });
}

/** The exit codes of a shell: 127 for a program that does not exist, 126 for one that cannot be run. */
export function exitCodeOfSpawnFailure(error: SupervisorError): number {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? 127 : 126;
}
