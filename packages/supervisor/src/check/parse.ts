/** The words of `--ready` and `--health`. A text that is none of them is refused with what it might have been. */
import { SupervisorError } from "../errors.ts";
import type { Check, Ready } from "./spec.ts";

const checkForms = "http(s)://host:port/path, tcp://host:port, grpc://host:port[/service], exec:COMMAND";
const readyForms = `spawn, fd:N, ipc, log:REGEX, file:PATH, ${checkForms}`;

/** File descriptors beyond are a slip of the finger, and each costs one opened in the child. */
const highestFd = 63;

/** What a child must do to be ready. Throws `InvalidOptions`. */
export function parseReady(text: string): Ready {
  const [, word = "", rest = ""] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (text === "spawn" || text === "ipc") return { kind: text };
  switch (word) {
    case "fd":
      return { kind: "fd", fd: fdFrom(rest, text) };
    case "log":
      return { kind: "log", pattern: patternFrom(rest, text) };
    case "file":
      if (rest === "") refuse(text, "the path is missing");
      return { kind: "file", path: rest };
    default:
      return checkFrom(text, readyForms);
  }
}

/** What is asked of a child to see whether it is healthy. Throws `InvalidOptions`. */
export function parseHealth(text: string): Check {
  return checkFrom(text, checkForms);
}

function checkFrom(text: string, forms: string): Check {
  if (text.startsWith("exec:")) return { kind: "exec", argv: argvFrom(text.slice("exec:".length), text) };
  const [, scheme] = /^(https?|tcp|grpc):\/\//.exec(text) ?? [];
  if (!scheme) refuse(text, `it must be one of ${forms}`);
  const url = urlFrom(text);
  if (scheme === "http" || scheme === "https") return { kind: "http", url: url.href };
  const problems: string[] = [];
  const port = Number(url.port);
  if (url.port === "") problems.push("the port is missing");
  if (url.hostname === "") problems.push("the host is missing");
  if (url.username !== "" || url.password !== "") problems.push("a user has no meaning here");
  if (url.search !== "" || url.hash !== "") problems.push("? and # have no meaning here");
  const path = url.pathname.replace(/^\//, "");
  if (scheme === "tcp" && path !== "") problems.push("a path has no meaning here");
  if (problems.length > 0) refuse(text, ...problems);
  // A URL has the brackets of an IPv6 address; a socket wants it without.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return scheme === "tcp"
    ? { kind: "tcp", host, port }
    : { kind: "grpc", host, port, service: decodeURI(path) };
}

function urlFrom(text: string): URL {
  try {
    return new URL(text);
  } catch {
    return refuse(text, "it is not a URL, or its port is not between 0 and 65535");
  }
}

function fdFrom(rest: string, text: string): number {
  const fd = /^\d+$/.test(rest) ? Number(rest) : Number.NaN;
  if (!(fd >= 3 && fd <= highestFd)) {
    refuse(text, `the file descriptor must be a number from 3 to ${highestFd}; 0, 1 and 2 are taken`);
  }
  return fd;
}

function patternFrom(rest: string, text: string): RegExp {
  if (rest === "") refuse(text, "the pattern is missing");
  try {
    return new RegExp(rest, "u");
  } catch (error) {
    return refuse(text, `the pattern is not a regular expression (${(error as Error).message})`);
  }
}

/** A list of words in JSON is run as it is, anything else by the shell: an image without a shell can be checked too. */
function argvFrom(rest: string, text: string): readonly string[] {
  const command = rest.trim();
  if (command === "") refuse(text, "the command is missing");
  if (!command.startsWith("[")) return ["/bin/sh", "-c", command];
  const argv = parsedOrNothing(command);
  if (!Array.isArray(argv) || argv.length === 0 || argv.some((word) => typeof word !== "string")) {
    refuse(text, 'a command in brackets must be a list of words in JSON, such as ["cat", "/tmp/ok"]');
  }
  return argv as string[];
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(text: string, ...problems: string[]): never {
  const named = problems.map((problem) => `${JSON.stringify(text)} cannot be used: ${problem}`);
  throw new SupervisorError("InvalidOptions", `${named.join("; ")}.`, { problems: named });
}
