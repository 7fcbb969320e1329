/** What etcd, the network or gRPC reported, and the way out of it. */

import { status } from "@grpc/grpc-js";
import { messageOf } from "@tenure/base";
import type { Answer, Failure } from "@tenure/core";
import { UnreadableRecord } from "@tenure/election/internal";

/** The request was given up by its caller. */
export class RequestAborted extends Error {
  override readonly name = "RequestAborted";
}

/** Where a failed request was sent, for the message. */
export interface Place {
  /** `etcd a:2379,b:2379`. */
  readonly server: string;
  readonly key: string;
}

export function failed(error: unknown, action: string, place: Place): Answer {
  return { kind: "failed", failure: failureFromError(error, action, place) };
}

export function failureFromError(error: unknown, action: string, place: Place): Failure {
  if (error instanceof UnreadableRecord) return { kind: "unreadable", message: error.message };
  const { kind, reason } = explain(error, place);
  return { kind, message: `Cannot ${action} in ${place.server}: ${reason}` };
}

/** The number of a gRPC status; undefined if the error does not come from gRPC. */
export function grpcCode(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "number" ? code : undefined;
}

/** What the server said, without the words of gRPC around it. */
export function detailsOf(error: unknown): string {
  const { details } = (error ?? {}) as { details?: unknown };
  return (typeof details === "string" && details !== "" ? details : messageOf(error)).replace(/\.$/, "");
}

/** Whether the token is not valid any more, so that a new one may help. */
export function isTokenExpired(error: unknown): boolean {
  // A watch that was cancelled has a reason, and no code.
  const isTold = /revision of auth store is old|invalid auth token/.test(detailsOf(error));
  return isTold || grpcCode(error) === status.UNAUTHENTICATED;
}

function explain(error: unknown, { key }: Place): { kind: Failure["kind"]; reason: string } {
  const said = detailsOf(error);
  if (error instanceof RequestAborted) return { kind: "timeout", reason: said };
  if (/user name is empty|authentication failed|invalid auth token|user name not found/.test(said)) {
    return {
      kind: "denied",
      reason: `${said}. Check user name and password: ETCD_USERNAME and ETCD_PASSWORD, or the options username and password`,
    };
  }
  switch (grpcCode(error)) {
    case status.PERMISSION_DENIED:
      return {
        kind: "denied",
        reason: `${said}. Grant it: etcdctl role grant-permission ROLE readwrite ${key}`,
      };
    case status.UNAUTHENTICATED:
      return { kind: "denied", reason: said };
    case status.DEADLINE_EXCEEDED:
    case status.CANCELLED:
      return { kind: "timeout", reason: said };
    case status.UNAVAILABLE:
      return /no leader|request timed out/.test(said)
        ? { kind: "unreachable", reason: `${said}. A majority of the members of etcd must be running` }
        : { kind: "unreachable", reason: said };
    case status.RESOURCE_EXHAUSTED:
      return /space exceeded/.test(said)
        ? { kind: "server", reason: `${said}. Compact and defragment etcd, then etcdctl alarm disarm` }
        : { kind: "throttled", reason: said };
    case undefined:
      return { kind: "unreachable", reason: said };
    default:
      return { kind: "server", reason: said };
  }
}
