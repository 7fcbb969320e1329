/**
 * Real pipes between a child and this process. Node gives a child sockets, which cannot be opened again: a child that opens
 * /dev/stdout, /dev/stderr or /dev/fd/3 by name, as nginx and php-fpm do, fails with ENXIO. Node cannot create a pipe, so the
 * program mkfifo does. Where it is missing, the child gets sockets.
 */
import { type ChildProcess, type StdioOptions, spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";

/** A pipe carries output of the child. Input goes through a socket of Node. */
export type Slot = "pipe" | "input" | "inherit" | "ignore" | "ipc";

export interface ChildPipes {
  readonly stdio: StdioOptions;
  /** Makes the streams available as `child.stdout`, `child.stderr` and `child.stdio`, as if Node had created them. */
  attach(child: ChildProcess): void;
  /** Closes the child's ends in this process, so that the streams end when the child and its descendants have closed theirs. */
  closeChildEnds(): void;
}

/** mkfifo takes a few milliseconds. A file system that hangs must not keep this process from renewing its lease. */
const mkfifoTimeoutMs = 1_000;

/** @param folder where the pipes have names for a moment */
export function openPipes(slots: readonly Slot[], folder: string): ChildPipes {
  const wanted = slots.flatMap((slot, index) => (slot === "pipe" ? [index] : []));
  const pipes = wanted.length > 0 ? createPipes(wanted, folder) : undefined;
  const plain = slots.map((slot) => (slot === "input" ? "pipe" : slot));
  if (!pipes) return { stdio: plain, attach: () => {}, closeChildEnds: () => {} };
  const ends = new Map(pipes.map(({ index, childEnd }) => [index, childEnd]));
  return {
    stdio: plain.map((slot, index) => ends.get(index) ?? slot),
    attach(child) {
      for (const { index, stream } of pipes) {
        (child.stdio as unknown[])[index] = stream;
        if (index === 1) child.stdout = stream;
        if (index === 2) child.stderr = stream;
      }
    },
    closeChildEnds() {
      for (const { childEnd } of pipes) closeSync(childEnd);
    },
  };
}

interface Pipe {
  readonly index: number;
  readonly stream: Socket;
  readonly childEnd: number;
}

function createPipes(indexes: readonly number[], parent: string): Pipe[] | undefined {
  const opened: number[] = [];
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(parent, "tenure-pipes-"));
    const paths = indexes.map((index) => join(folder ?? "", String(index)));
    // Open for a child that runs as another user. Nobody else finds a pipe that has no name any more.
    const { status } = spawnSync("mkfifo", ["-m", "666", ...paths], {
      stdio: "ignore",
      timeout: mkfifoTimeoutMs,
    });
    if (status !== 0) return undefined;
    const ends = paths.map((path) => {
      // The end to read comes first. Without it, opening the other end would block.
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      opened.push(readEnd);
      const childEnd = openSync(path, constants.O_WRONLY);
      opened.push(childEnd);
      return { readEnd, childEnd };
    });
    return ends.map(({ readEnd, childEnd }, position) => ({
      index: indexes[position] ?? 0,
      stream: new Socket({ fd: readEnd, readable: true, writable: false }),
      childEnd,
    }));
  } catch {
    for (const descriptor of opened) closeSync(descriptor);
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
