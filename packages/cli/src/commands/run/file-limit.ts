/**
 * The limit of open files that the child gets. Node raises its own soft limit to the hard limit when it starts, and every child
 * inherits that: programs that use select(), or that close all possible files, then fail or take long. Node cannot set a
 * limit, so the program prlimit (util-linux) sets it for this process, and the child inherits it.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Checked, checked, quote } from "@tenure/base";
import { CliError } from "../../errors.ts";
import type { Platform } from "../../platform.ts";

/** tenure itself needs this many: connections, status clients, pipes. */
const leastFiles = 512;
const prlimitTimeoutMs = 2_000;

/** Reads `nofile=NUMBER`. */
export function checkFileLimit(text: string): Checked<number> {
  const number = Number(/^nofile=(\d{1,9})$/.exec(text)?.[1] ?? Number.NaN);
  if (number >= leastFiles) return checked(number, []);
  const rule = `must be nofile=NUMBER with a number of ${leastFiles} or more, because tenure has the same limit`;
  return { value: undefined, problems: [{ field: "rlimit", rule, value: quote(text) }] };
}

/**
 * The limit to set, if any. Without --rlimit it is that of the parent, which this process had before Node raised it. In a
 * container there is no parent to ask.
 */
export function chooseFileLimit(
  wanted: number | undefined,
  own: string | undefined,
  parent: string | undefined,
): number | undefined {
  const now = softLimitIn(own);
  const before = wanted ?? softLimitIn(parent);
  if (now === undefined || before === undefined || before === now) return undefined;
  return wanted ?? (before < now && before >= leastFiles ? before : undefined);
}

/** Sets the limit of this process. Throws if --rlimit asks for one that cannot be set. */
export function setFileLimit(wanted: number | undefined, platform: Pick<Platform, "pid" | "parent">): void {
  const limit = chooseFileLimit(wanted, limitsOf(platform.pid), limitsOf(platform.parent()));
  if (limit === undefined) return;
  const { error, status, stderr } = spawnSync(
    "prlimit",
    ["--pid", String(platform.pid), `--nofile=${limit}:`],
    { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8", timeout: prlimitTimeoutMs },
  );
  if (status === 0 || wanted === undefined) return;
  const why = error ? "it needs the program prlimit, which is part of util-linux" : stderr.trim();
  throw new CliError("Usage", `Cannot set --rlimit nofile=${wanted}: ${why}`);
}

function softLimitIn(limits: string | undefined): number | undefined {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits ?? "")?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function limitsOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/limits`, "utf8");
  } catch {
    return undefined;
  }
}
