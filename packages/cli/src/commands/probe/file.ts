/**
 * Checks that a file exists and has the right content: a ready file, or a mounted ConfigMap.
 * A ready file of tenure contains the time at which it expires. After that it does not count, even if nothing removed it.
 */
import { readFile } from "node:fs/promises";
import type { Answer } from "./probe.ts";

/** @param contains a line that the file must have, ignoring white space around it */
export async function probeFile(path: string, contains: string | undefined, nowMs: number): Promise<Answer> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      ok: false,
      line: `${path} ${code === "ENOENT" ? "does not exist" : `is not readable: ${message}`}`,
    };
  }
  if (contains !== undefined) {
    const lines = text.split("\n").map((line) => line.trim());
    const names = lines.filter(Boolean).join(", ") || "nothing";
    return lines.includes(contains)
      ? { ok: true, line: `${path} contains ${contains}` }
      : { ok: false, line: `${path} contains ${names.slice(0, 80)}, not ${contains}` };
  }
  // The same as `readyUntil` of @tenure/traffic, which takes too long to load for a probe.
  const untilMs = Date.parse(/^until (\S+)$/m.exec(text)?.[1] ?? "");
  if (untilMs <= nowMs) {
    return {
      ok: false,
      line: `${path} expired at ${new Date(untilMs).toISOString()}`,
    };
  }
  return { ok: true, line: `${path} exists` };
}
