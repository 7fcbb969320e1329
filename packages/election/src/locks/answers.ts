/** Converts errors of the Kubernetes client to answers and failures of core. */
import { messageOf } from "@tenure/base";
import type { Answer, Failure } from "@tenure/core";
import { KubeError } from "@tenure/kube";
import { UnreadableRecord } from "./record-fields.ts";

/** The object that a read or an update is about. */
export interface SoughtObject {
  readonly name: string;
  readonly plural: string;
  readonly kind: string;
  /** "" for the core group. */
  readonly group: string;
}

/** @param sought undefined for a create: a 404 to it means that the namespace does not exist */
export function answerFromError(error: unknown, sought: SoughtObject | undefined): Answer {
  if (error instanceof KubeError) {
    if (sought && (error.code === "NotFound" || error.status === 404)) {
      return isAbsenceOf(sought, error) ? { kind: "absent" } : { kind: "failed", failure: strange404(error) };
    }
    // Even if a proxy answered: a conflict only makes the candidate read the lock again.
    if (error.code === "Conflict" || error.code === "AlreadyExists") return { kind: "conflict" };
  }
  return { kind: "failed", failure: failureFromError(error) };
}

/**
 * An absent lock ends a term, so only a statement about this very object counts. A proxy without a route, a gateway that does
 * not know the cluster and a server that does not serve the kind answer 404 as well, and the lock still exists.
 */
function isAbsenceOf(sought: SoughtObject, error: KubeError): boolean {
  const { details } = (error.details ?? {}) as { details?: unknown };
  const { name, kind, group } = (details ?? {}) as Record<"name" | "kind" | "group", unknown>;
  return (
    error.code === "NotFound" &&
    error.reason === "NotFound" &&
    name === sought.name &&
    // The API server writes the plural here.
    (kind === undefined || kind === sought.plural || kind === sought.kind) &&
    (group === undefined || group === sought.group)
  );
}

function strange404(error: KubeError): Failure {
  const sentence = /[.?]$/.test(error.message) ? error.message : `${error.message}.`;
  const message =
    `${sentence} This 404 did not come from a Kubernetes API server for this object, ` +
    "so the lock does not count as deleted";
  return { ...failureFromError(error), message };
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
