/** The processes of this machine as Linux shows them under /proc. Where there is no /proc, `read` says so with undefined. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it was started, in the kernel's ticks: tells a process from a later one with the same pid. */
  readonly started: number;
}

export interface ProcessTable {
  /** All that live. A process that has ended and was not waited for yet does not. */
  read(): readonly ProcessRow[] | undefined;
  /** The environment that the program was started with, as far as we may see it. */
  environmentOf(pid: number): Buffer | undefined;
}

export function procTable(folder = "/proc"): ProcessTable {
  return {
    read: () => {
      const names = attempt(() => readdirSync(folder));
      const pids = names?.filter((name) => /^\d+$/.test(name));
      if (!pids || pids.length === 0) return undefined;
      // One that has ended since has no file any more.
      return pids.flatMap((pid) => {
        const line = attempt(() => readShort(`${folder}/${pid}/stat`));
        return (line && parseStat(line)) || [];
      });
    },
    environmentOf: (pid) => attempt(() => readFileSync(`${folder}/${pid}/environ`)),
  };
}

/** One line of /proc/PID/stat; undefined for a process that does not run any more. */
export function parseStat(line: string): ProcessRow | undefined {
  const pid = Number.parseInt(line, 10);
  // The name in parentheses may hold anything, also spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session] = fields;
  const threads = Number(fields[17]);
  const started = Number(fields[19] ?? Number.NaN);
  if (Number.isNaN(started)) return undefined;
  // Z with threads: the first thread has ended and the others run on.
  if (state === "X" || (state === "Z" && threads <= 1)) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), started };
}

/** A line of /proc/PID/stat is never longer. */
const buffer = Buffer.alloc(4_096);

/** Half the cost of readFileSync, and there may be thousands. */
function readShort(path: string): string {
  const file = openSync(path, "r");
  try {
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}

function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
