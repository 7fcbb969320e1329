/**
 * A recording: a file with one JSON object per line. The first line names the format and its version, every other line is an
 * observation (see ../model/observation.ts). docs/reference/recording.md describes it for other programs.
 */
import { messageOf, quote } from "@tenure/base";
import { UiError } from "../errors.ts";
import type { Observation } from "../model/observation.ts";
import { problemIn } from "./line-rules.ts";

/** A reader rejects a greater version. New fields and kinds do not change it: a reader ignores what it does not know. */
const recordingVersion = 1;

interface RecordingHeader {
  readonly recording: "tenure";
  readonly version: number;
  readonly startedAt: string;
  /** What was recorded: "tenure watch -A". */
  readonly source: string;
}

export function headerLine(startedMs: number, source: string): string {
  const header: RecordingHeader = {
    recording: "tenure",
    version: recordingVersion,
    startedAt: new Date(startedMs).toISOString(),
    source,
  };
  return `${JSON.stringify(header)}\n`;
}

export function observationLine(seen: Observation): string {
  return `${JSON.stringify(seen)}\n`;
}

export interface Recording {
  readonly header: RecordingHeader;
  /** In the order of their times. */
  readonly observations: readonly Observation[];
  /** The last line was cut short: the program that wrote it was killed. */
  readonly isCut: boolean;
}

/** @param name of the file, for errors */
export function readRecording(text: string, name: string): Recording {
  const lines = text.split("\n");
  // A complete file ends with a line break.
  const rest = lines.pop() ?? "";
  const header = readHeader(lines[0] ?? rest, name);
  const observations: Observation[] = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === "") continue;
    const seen = parse(line, `line ${index + 1} of ${name}`);
    const problem = problemIn(seen);
    if (problem === "unknown kind") continue;
    if (problem !== undefined)
      throw new UiError("BadRecording", `Cannot read line ${index + 1} of ${name}: ${problem}.`);
    observations.push(seen as unknown as Observation);
  }
  // Work that a witness saw may have been appended at the end.
  observations.sort((a, b) => a.atMs - b.atMs);
  return { header, observations, isCut: rest !== "" && lines.length > 0 };
}

function readHeader(line: string, name: string): RecordingHeader {
  let header: Partial<RecordingHeader> | undefined;
  try {
    header = JSON.parse(line) as Partial<RecordingHeader>;
  } catch {
    // Reported below, like every other file that is not a recording.
  }
  if (header?.recording !== "tenure" || typeof header.version !== "number") {
    const found = line === "" ? "it is empty" : `its first line is ${quote(line)}`;
    throw new UiError(
      "BadRecording",
      `${name} is not a recording of tenure: ${found}. Make one with tenure watch --record FILE.`,
    );
  }
  if (header.version > recordingVersion) {
    throw new UiError(
      "BadRecording",
      `${name} has version ${header.version} of the format, but this tenure reads up to version ${recordingVersion}: use a newer tenure.`,
    );
  }
  return { startedAt: "", source: "", ...header, recording: "tenure", version: header.version };
}

function parse(line: string, where: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw new UiError("BadRecording", `Cannot read ${where}: ${messageOf(error)}.`, { cause: error });
  }
  throw new UiError("BadRecording", `Cannot read ${where}: it is not a JSON object.`);
}
