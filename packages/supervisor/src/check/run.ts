/** Asks a check once. Resolves when the child passed it, rejects with `CheckFailed` when not; ends with the signal. */
import { inWords, SupervisorError } from "../errors.ts";
import { askExec } from "./exec.ts";
import { askGrpc } from "./grpc.ts";
import { askHttp } from "./http.ts";
import type { Check } from "./spec.ts";
import { askTcp } from "./tcp.ts";

export interface CheckContext {
  /** What a command of a check is started with; it carries the marker. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
}

export async function ask(check: Check, context: CheckContext, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    switch (check.kind) {
      case "http":
        return await askHttp(check.url, signal);
      case "tcp":
        return await askTcp(check, signal);
      case "grpc":
        return await askGrpc(check, signal);
      case "exec":
        return await askExec(check.argv, context, signal);
    }
  } catch (error) {
    throw new SupervisorError("CheckFailed", `${describe(check)}: ${inWords(error)}`, { cause: error });
  }
}

/** As it is written in a flag. */
export function describe(check: Check): string {
  switch (check.kind) {
    case "http":
      return check.url;
    case "tcp":
      return `tcp://${check.host}:${check.port}`;
    case "grpc":
      return `grpc://${check.host}:${check.port}${check.service === "" ? "" : `/${check.service}`}`;
    case "exec":
      return `exec:${check.argv.slice(0, 2).join(" ") === "/bin/sh -c" ? check.argv[2] : JSON.stringify(check.argv)}`;
  }
}
