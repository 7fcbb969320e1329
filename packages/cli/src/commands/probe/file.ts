/**
 * Is a file there, and does it say what it should: for exec probes on a ready file or on a mounted ConfigMap.
 * A ready file of tenure says until when it is to be believed; one that is older is not ready, whoever forgot to remove it.
 */
import { readFile } from "node:fs/promises";
import type { Answer } from "./probe.ts";

/** @param contains a line that must be in it, white space around it aside */
export async function probeFile(path: string, contains: string | undefined, nowMs: number): Promise<Answer> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      ok: false,
      line: `${path} ${code === "ENOENT" ? "is not there" : `cannot be read: ${message}`}`,
    };
  }
  if (contains !== undefined) {
    const lines = text.split("\n").map((line) => line.trim());
    const names = lines.filter(Boolean).join(", ") || "nothing";
    return lines.includes(contains)
      ? { ok: true, line: `${path} says ${contains}` }
      : { ok: false, line: `${path} says ${names.slice(0, 80)}, not ${contains}` };
  }
  // As `readyUntil` of @tenure/traffic reads it, which costs more to load than a probe has time for.
  const untilMs = Date.parse(/^until (\S+)$/m.exec(text)?.[1] ?? "");
  if (untilMs <= nowMs) {
    return {
      ok: false,
      line: `${path} is there but was to be believed only until ${new Date(untilMs).toISOString()}`,
    };
  }
  return { ok: true, line: `${path} is there` };
}
