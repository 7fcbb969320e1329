/** What PostgreSQL, the network or the driver reported, and the way out of it. */
import { messageOf } from "@tenure/base";
import type { Answer, Failure } from "@tenure/core";
import { UnreadableRecord } from "@tenure/election/internal";

/** The server that answers is a standby, or its transactions are read-only. */
export class ReadOnlyServer extends Error {
  override readonly name = "ReadOnlyServer";
}

/** The server committed, but stopped waiting for its synchronous standbys. A failover can undo the commit. */
export class UnconfirmedCommit extends Error {
  override readonly name = "UnconfirmedCommit";
}

/** The request was given up, by its caller or at its time limit. */
export class RequestAborted extends Error {
  override readonly name = "RequestAborted";
}

/** Where a failed request was sent, for the message. */
export interface Place {
  /** `postgres db.example.com:5432/app`, without user and password. */
  readonly server: string;
  readonly table: string;
  readonly role: string | undefined;
}

export function answerFromError(error: unknown, action: string, place: Place): Answer {
  // The transaction was rolled back because another one changed the row: read it again.
  if (["40001", "40P01", "23505"].includes(sqlState(error))) return { kind: "conflict" };
  return { kind: "failed", failure: failureFromError(error, action, place) };
}

export function failureFromError(error: unknown, action: string, place: Place): Failure {
  if (error instanceof UnreadableRecord) return { kind: "unreadable", message: error.message };
  const { kind, reason } = explain(error, place);
  return { kind, message: `Cannot ${action} in ${place.server}: ${reason}` };
}

interface Explanation {
  readonly kind: Failure["kind"];
  readonly reason: string;
}

function explain(error: unknown, { table, role }: Place): Explanation {
  const said = messageOf(error).replace(/\.$/, "");
  if (error instanceof RequestAborted) return { kind: "timeout", reason: said };
  if (error instanceof UnconfirmedCommit) return { kind: "server", reason: said };
  const state = sqlState(error);
  if (error instanceof ReadOnlyServer || state === "25006") {
    return {
      kind: "server",
      reason:
        "the server is read-only, probably a standby. Connect to the primary: name all servers in the URL, " +
        "postgres://HOST1,HOST2/DATABASE, and the writable one is used",
    };
  }
  switch (state) {
    case "28P01":
    case "28000":
      return {
        kind: "denied",
        reason: `${said}. Check user and password: in the URL, PGUSER and PGPASSWORD, or PGPASSFILE`,
      };
    case "42501":
      return {
        kind: "denied",
        reason: `${said}. Run as the owner: tenure postgres schema --table ${table} --role ${role ?? "ROLE"} | psql`,
      };
    case "42P01":
    case "3F000":
      return {
        kind: "server",
        reason: `there is no table ${table}. Create it: tenure postgres schema --table ${table} | psql`,
      };
    case "42703":
      return {
        kind: "server",
        reason: `the table ${table} has other columns (${said}). Choose another table, or drop it and create it again`,
      };
    case "3D000":
      return { kind: "server", reason: `${said}. Create the database, or correct its name in the URL` };
    case "53300":
      return { kind: "throttled", reason: `${said}. Raise max_connections, or connect through a pooler` };
    case "57P01":
    case "57P02":
    case "57P03":
    case "57P05":
      return { kind: "unreachable", reason: said };
    default:
      return { kind: state === "" || state.startsWith("08") ? "unreachable" : "server", reason: said };
  }
}

/** Five characters if PostgreSQL reported the error, "" if not. */
function sqlState(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : "";
}
