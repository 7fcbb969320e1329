/** The processes of this machine, as Linux lists them under /proc. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When the process started, in ticks of the kernel. Distinguishes it from a later process with the same pid. */
  readonly started: number;
  /** The name of the program, at most 15 characters. */
  readonly name: string;
}

export interface ProcessTable {
  /**
   * All processes that run; zombies do not. Undefined if there is no /proc.
   * @param known rows that are returned as they are if their processes still run, by pid
   */
  read(known?: ReadonlyMap<number, ProcessRow>): readonly ProcessRow[] | undefined;
  /** The environment that the program was started with. Undefined if this process may not read it. */
  environmentOf(pid: number): Buffer | undefined;
}

export function procTable(folder = "/proc"): ProcessTable {
  return {
    read: (known) => {
      const names = attempt(() => readdirSync(folder));
      const pids = names?.filter((name) => /^\d+$/.test(name));
      if (!pids || pids.length === 0) return undefined;
      // A process that has exited since the listing has no file any more.
      return pids.flatMap((pid) => {
        const row = known?.get(Number(pid));
        if (row) return row;
        const line = attempt(() => readShort(`${folder}/${pid}/stat`));
        return (line && parseStat(line)) || [];
      });
    },
    environmentOf: (pid) => attempt(() => readFileSync(`${folder}/${pid}/environ`)),
  };
}

/** Parses one line of /proc/PID/stat. Undefined for a process that does not run any more. */
export function parseStat(line: string): ProcessRow | undefined {
  const pid = Number.parseInt(line, 10);
  // The name in parentheses may contain anything, even spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session] = fields;
  const threads = Number(fields[17]);
  const started = Number(fields[19] ?? Number.NaN);
  if (Number.isNaN(started)) return undefined;
  // Z with several threads: the first thread has exited and the others still run.
  if (state === "X" || (state === "Z" && threads <= 1)) return undefined;
  const name = line.slice(line.indexOf("(") + 1, line.lastIndexOf(")"));
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), started, name };
}

/** Longer than any line of /proc/PID/stat. */
const buffer = Buffer.alloc(4_096);

/** Costs half as much as readFileSync, and there may be thousands of processes. */
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
