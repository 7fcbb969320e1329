/** One line of a log file, in the format of container runtimes: time, stream, whether the line is whole, text. */

export type LogStream = "stdout" | "stderr";

export interface LogLine {
  /** With nanoseconds, so that texts compare like times. */
  readonly time: string;
  readonly stream: LogStream;
  /** Whether a line break follows. */
  readonly isWhole: boolean;
  readonly text: string;
}

export function formatLine({ time, stream, isWhole, text }: LogLine): string {
  return `${time} ${stream} ${isWhole ? "F" : "P"} ${text}\n`;
}

/** Undefined for a line that is not of this format. */
export function parseLine(line: string): LogLine | undefined {
  const [, time, stream, tag, text] = /^(\S+) (stdout|stderr) ([FP]) (.*)$/s.exec(line) ?? [];
  if (time === undefined || stream === undefined || text === undefined) return undefined;
  return { time, stream: stream as LogStream, isWhole: tag === "F", text };
}

/** A time with nanoseconds. The clock has only milliseconds. */
export function logTime(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/Z$/, "000000Z");
}
