/**
 * The log of a command: plain lines on a terminal, otherwise (or with --log-format json) one JSON object per line, with the
 * fields that events.ts declares. It never blocks its caller. `close` writes what is still buffered.
 */
import { oneOfProblem, type Problem } from "@tenure/base";
import { type Command, Option } from "commander";
import type { Platform } from "../platform.ts";
import { offer } from "../settings/flag-values.ts";
import type { LogEvent } from "./events.ts";
import { linesLost, openSink } from "./sink.ts";

export interface LogFlags {
  logFormat?: string;
}

/** What a JSON line has besides the message. Plain lines leave it out. */
export type Facts = Readonly<Record<string, unknown>> & { readonly event: LogEvent };

export interface Log {
  info(message: string, facts: Facts): void;
  warn(message: string, facts: Facts): void;
  error(message: string, facts: Facts): void;
  close(): Promise<void>;
}

type Level = "info" | "warn" | "error";

const formats = ["text", "json"];

export function addLogOptions(command: Command): void {
  command.addOption(
    offer(
      new Option("--log-format <text|json>", "format of log lines (default: text on a terminal, else json)"),
      formats,
    ),
  );
}

export function logProblems({ logFormat }: LogFlags): Problem[] {
  if (logFormat === undefined || formats.includes(logFormat)) return [];
  return [oneOfProblem("logFormat", formats, logFormat)];
}

/** @param to 1 is stdout, 2 is stderr */
export async function openLog(flags: LogFlags, platform: Platform, to: 1 | 2): Promise<Log> {
  const isTerminal = to === 1 ? platform.isTerminal : platform.isErrorTerminal;
  const isJson = (flags.logFormat ?? (isTerminal ? "text" : "json")) === "json";
  const format = isJson ? jsonLine(platform) : textLine(platform);
  const sink = openSink(platform, to, (dropped) =>
    format("warn", `${dropped} ${linesLost}`, { event: "lost", dropped }),
  );
  const write = (level: Level, message: string, facts: Facts) => sink.write(format(level, message, facts));
  return {
    info: (message, facts) => write("info", message, facts),
    warn: (message, facts) => write("warn", message, facts),
    error: (message, facts) => write("error", message, facts),
    close: () => sink.close(),
  };
}

type Format = (level: Level, message: string, facts: Facts) => string;

function jsonLine({ clock }: Platform): Format {
  return (level, msg, facts) => {
    const time = new Date(clock.now().wallMs).toISOString();
    return `${JSON.stringify({ level, time, ...facts, msg })}\n`;
  };
}

function textLine({ clock }: Platform): Format {
  const marks = { info: "", warn: "warning: ", error: "error: " };
  return (level, message) => `${timeOfDay(clock.now().wallMs)}  ${marks[level]}${message}\n`;
}

/** Local time to the millisecond. */
function timeOfDay(wallMs: number): string {
  const time = new Date(wallMs);
  const two = (value: number) => String(value).padStart(2, "0");
  const ms = String(time.getMilliseconds()).padStart(3, "0");
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${ms}`;
}
