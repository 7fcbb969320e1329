/** Reads the values of `--ready` and `--health`. */
import { type Checked, checked, type Problem, quote } from "@tenure/base";
import { invalidOptions } from "../errors.ts";
import type { Check, Ready } from "./spec.ts";

const checkForms = "http(s)://HOST:PORT/PATH, tcp://HOST:PORT, grpc://HOST:PORT[/SERVICE], exec:COMMAND";
const readyForms = `spawn, fd:N, ipc, log:REGEX, file:PATH, ${checkForms}`;

/** Every file descriptor up to N is opened in the child, so a higher number is a typing mistake. */
const highestFd = 63;

/** When a child is ready. Throws `InvalidOptions`. */
export function parseReady(text: string): Ready {
  return validOrThrow("ready", text, checkReady(text));
}

/** How to check the health of a child. Throws `InvalidOptions`. */
export function parseHealth(text: string): Check {
  return validOrThrow("health", text, checkHealth(text));
}

function validOrThrow<T>(field: string, text: string, { value, problems }: Checked<T>): T {
  if (problems.length > 0) throw invalidOptions(`use ${quote(text)} as ${field}`, problems);
  return value as T;
}

/** As `parseReady`, but returns the problems. */
export function checkReady(text: string): Checked<Ready> {
  const rules: string[] = [];
  return result("ready", text, readReady(text, rules), rules);
}

/** As `parseHealth`, but returns the problems. */
export function checkHealth(text: string): Checked<Check> {
  const rules: string[] = [];
  return result("health", text, readCheck(text, checkForms, rules), rules);
}

function result<T>(field: string, text: string, value: T | undefined, rules: readonly string[]): Checked<T> {
  const problems = rules.map((rule): Problem => ({ field, rule, value: JSON.stringify(text) }));
  return checked(value as T, problems);
}

function readReady(text: string, rules: string[]): Ready | undefined {
  const [, word = "", rest = ""] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (text === "spawn" || text === "ipc") return { kind: text };
  switch (word) {
    case "fd":
      return { kind: "fd", fd: readFd(rest, rules) };
    case "log":
      return { kind: "log", pattern: readPattern(rest, rules) };
    case "file":
      if (rest === "") rules.push("must have a path after file:");
      return { kind: "file", path: rest };
    default:
      return readCheck(text, readyForms, rules);
  }
}

function readCheck(text: string, forms: string, rules: string[]): Check | undefined {
  if (text.startsWith("exec:")) return { kind: "exec", argv: readArgv(text.slice("exec:".length), rules) };
  const [, scheme] = /^(https?|tcp|grpc):\/\//.exec(text) ?? [];
  if (!scheme) {
    rules.push(`must be one of ${forms}`);
    return undefined;
  }
  if (!URL.canParse(text)) {
    rules.push("must be a URL with a port from 0 to 65535");
    return undefined;
  }
  const url = new URL(text);
  if (scheme === "http" || scheme === "https") return { kind: "http", url: url.href };
  const path = url.pathname.replace(/^\//, "");
  if (url.port === "") rules.push("must have a port");
  if (url.hostname === "") rules.push("must have a host");
  if (url.username !== "" || url.password !== "") rules.push("must not have a user");
  if (url.search !== "" || url.hash !== "") rules.push("must not have ? or #");
  if (scheme === "tcp" && path !== "") rules.push("must not have a path");
  const port = Number(url.port);
  // A URL encloses an IPv6 address in brackets; a socket expects it without them.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return scheme === "tcp"
    ? { kind: "tcp", host, port }
    : { kind: "grpc", host, port, service: decodeURI(path) };
}

function readFd(rest: string, rules: string[]): number {
  const fd = /^\d+$/.test(rest) ? Number(rest) : Number.NaN;
  if (!(fd >= 3 && fd <= highestFd)) {
    rules.push(`must have a number from 3 to ${highestFd} after fd:, because 0, 1 and 2 are in use`);
  }
  return fd;
}

function readPattern(rest: string, rules: string[]): RegExp {
  if (rest === "") rules.push("must have a pattern after log:");
  try {
    return new RegExp(rest, "u");
  } catch (error) {
    rules.push(`must have a valid regular expression after log: (${(error as Error).message})`);
    return /./;
  }
}

/** A JSON list of words runs as it is, anything else through the shell. So an image without a shell can be checked too. */
function readArgv(rest: string, rules: string[]): readonly string[] {
  const command = rest.trim();
  if (command === "") rules.push("must have a command after exec:");
  if (!command.startsWith("[")) return ["/bin/sh", "-c", command];
  const argv = parseJson(command);
  if (Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === "string")) return argv;
  rules.push('must have a JSON list of words in the brackets, like exec:["cat", "/tmp/ok"]');
  return [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
