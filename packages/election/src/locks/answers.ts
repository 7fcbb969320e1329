/** Converts errors of the Kubernetes client to answers and failures of core. */
import { messageOf } from "@tenure/base";
import type { Answer, Failure } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { UnreadableRecord } from "./record-fields.ts";

export function answerFromError(error: unknown, isCreate: boolean): Answer {
  if (error instanceof KubeError) {
    // A 404 to a create means that the namespace does not exist.
    if (error.code === "NotFound" && !isCreate) return { kind: "absent" };
    if (error.code === "Conflict" || error.code === "AlreadyExists") return { kind: "conflict" };
  }
  return { kind: "failed", failure: failureFromError(error) };
}

export function failureFromError(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof UnreadableRecord) return { kind: "unreadable", message };
  if (!(error instanceof KubeError)) return { kind: "server", message };
  const kind = failureKind(error);
  return error.retryAfterMs === undefined
    ? { kind, message }
    : { kind, message, retryAfterMs: error.retryAfterMs };
}

function failureKind({ code }: KubeError): Failure["kind"] {
  switch (code) {
    case "Unauthorized":
    case "Forbidden":
      return "denied";
    case "TooManyRequests":
      return "throttled";
    case "Timeout":
    case "Aborted":
      return "timeout";
    case "Unreachable":
    case "Tls":
    case "BadResponse":
      return "unreachable";
    default:
      return "server";
  }
}
