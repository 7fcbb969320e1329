/** Runs a check once. Resolves if the child passes. Rejects with `CheckFailed` if it does not, or if the signal aborts. */
import { messageOf } from "@tenure/base";
import { SupervisorError } from "../errors.ts";
import { checkExec } from "./exec.ts";
import { checkGrpc } from "./grpc.ts";
import { checkHttp } from "./http.ts";
import type { Check, CheckContext } from "./spec.ts";
import { checkTcp } from "./tcp.ts";

export async function runCheck(check: Check, context: CheckContext, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    switch (check.kind) {
      case "http":
        return await checkHttp(check.url, signal, check.headers);
      case "tcp":
        return await checkTcp(check, signal);
      case "grpc":
        return await checkGrpc(check, signal);
      case "exec":
        return await checkExec(check.argv, context, signal);
    }
  } catch (error) {
    throw new SupervisorError("CheckFailed", `${describeCheck(check)}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The check as it is written in a flag. */
export function describeCheck(check: Check): string {
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
