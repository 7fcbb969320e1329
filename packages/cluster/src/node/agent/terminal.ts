/**
 * A terminal for a program. Node cannot create one, so the program `script` does. Without it, the program gets pipes. The size of
 * the terminal is set with `stty`.
 */
import { accessSync, readFileSync, readlinkSync } from "node:fs";
import { startProgram } from "@tenure/supervisor/internal";
import type { Launch } from "../isolation/isolation.ts";
import type { TerminalSize } from "./remote-command.ts";

const scriptPath = "/usr/bin/script";

export function hasTerminals(): boolean {
  try {
    accessSync(scriptPath);
    return true;
  } catch {
    return false;
  }
}

/** The same program, with a terminal. */
export function inTerminal({ command, args, env, cwd }: Launch): Launch {
  const line = [command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  return {
    command: scriptPath,
    args: ["--quiet", "--return", "--flush", "--command", `exec ${line}`, "/dev/null"],
    env: { TERM: "xterm", ...env, SHELL: "/bin/sh" },
    cwd,
  };
}

/** Sets the size of the terminal of a program that was started by `inTerminal`. */
export function resizeTerminal(pid: number, { width, height }: TerminalSize): void {
  const device = terminalOf(pid);
  if (!device) return;
  const args = ["-F", device, "cols", String(width), "rows", String(height)];
  const { spawned } = startProgram({ command: "stty", args, env: {}, cwd: "/" }, "ignore");
  // Only the size is wrong without it.
  spawned.catch(() => undefined);
}

/** The terminal is the input of the child of `script`. */
function terminalOf(pid: number): string | undefined {
  try {
    const [child = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const target = readlinkSync(`/proc/${child}/fd/0`);
    return target.startsWith("/dev/pts/") ? target : undefined;
  } catch {
    // It has ended, or there is no /proc.
    return undefined;
  }
}
